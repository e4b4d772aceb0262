/* Expulsion as a node's owner sees it: orders from the operator, orders and proofs to keep for the
 * next start, and the arrival times of rumors, so that an order can take out the rumors since a
 * given time. */
#ifndef HEARSAY_NODE_EXPULSION_API_H
#define HEARSAY_NODE_EXPULSION_API_H

#include "node/node.h"
#include "wire/equivocation_proof.h"
#include "wire/order.h"

/* Maximum size of all orders in bytes. */
#define NODE_ORDERS_MAX ((size_t)ORDERS_MAX * ORDER_BYTES_MAX)
/* Checks the stored orders in the options (wire/order.h). Returns MALFORMED if the bytes are not
 * orders with the numbers 1, 2, 3 …, and MISMATCH if they are of another operator, swarm or model.
 */
enum error node_orders_check(const struct node_options *options, struct problem *problem) MUST_USE;
/* Takes new orders, concatenated in `bytes`, that the owner got from the operator. Applies none of
 * them unless it returns OK. The owner may give the same orders again. */
enum error node_on_order(struct node *node, uint64_t now_ns, const uint8_t *bytes, size_t count,
                         struct problem *problem) MUST_USE;
uint32_t node_orders_count(const struct node *node);
/* Writes all known orders into out[NODE_ORDERS_MAX], for the next start. Returns the number of
 * bytes. */
size_t node_orders(const struct node *node, uint8_t *out);

#define NODE_PROOFS 256 /* maximum members with a proof against them */
/* Maximum size of all proofs in bytes. */
#define NODE_PROOFS_MAX ((size_t)NODE_PROOFS * PROOF_BYTES)
/* Checks the stored proofs in the options (wire/equivocation_proof.h). Returns MALFORMED if their
 * size is impossible, and MISMATCH if they are damaged, or belong to another swarm or model. */
enum error node_proofs_check(const struct node_options *options, struct problem *problem) MUST_USE;
/* Writes all known proofs into out[NODE_PROOFS_MAX], for the next start. Returns the number of
 * bytes. The bytes have changed if node_proofs_changes has grown. */
size_t node_proofs(const struct node *node, uint8_t *out);
uint32_t node_proofs_changes(const struct node *node);

/* A member that proofs or votes have expelled; node_proof gives number i of them, and returns
 * false after the last one. */
struct node_proof {
    uint8_t id[ID_BYTES];
    uint64_t incarnation; /* incarnation whose rumors were false or harmful */
    uint32_t keep;        /* rumors of that incarnation before this number stay in the base */
    bool is_suspended;    /* all rumors of the member stay, because most logs no longer have them */
    bool is_voted;        /* the verdict that counts is the members' vote, not a proof */
};
bool node_proof(const struct node *node, uint32_t i, struct node_proof *out);

/* Arrival time of a rumor that the log still has. */
struct node_arrival {
    uint32_t seq;     /* number of the rumor in its origin */
    uint64_t came_ns; /* its arrival time, or that of the previous list entry if earlier */
};
#define NODE_ARRIVALS 512 /* maximum arrivals that node_arrivals lists for one origin */
/* Writes arrival times of rumors of origin i (inspect.h), newest first, and returns their number.
 * Lists the origin's last rumor, and the one before node_reach if the log has it: the oldest that
 * an order may keep as the last. Lists some rumors between these two, each at least one second, and
 * 1/32 of the age of the entry before, earlier than that entry. */
uint32_t node_arrivals(const struct node *node, uint64_t now_ns, uint32_t i,
                       struct node_arrival out[static NODE_ARRIVALS]);
/* Returns the time since which the log has every rumor and will keep it for a while. If
 * node_arrivals returns 0 for an origin, none of its rumors has arrived since then. */
uint64_t node_log_horizon_ns(const struct node *node);

#endif
