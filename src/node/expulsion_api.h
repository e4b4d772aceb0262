/* Expulsion as a node's owner sees it: orders from the operator, orders and proofs to keep for the
 * next start, and the arrival times of rumors, so that an order can take out the rumors since a
 * given time. */
#ifndef HEARSAY_NODE_EXPULSION_API_H
#define HEARSAY_NODE_EXPULSION_API_H

#include "node/node.h"
#include "wire/equivocation_proof.h"
#include "wire/order.h"

/* Checks stored orders of the operator, back to back (wire/order.h). MISMATCH: they are of another
 * operator, swarm or model. MALFORMED: the bytes are no orders, or not numbered 1, 2, 3 … */
#define NODE_ORDERS_MAX ((size_t)ORDERS_MAX * ORDER_BYTES_MAX)
enum error node_orders_check(const struct node_options *options, struct problem *problem) MUST_USE;
/* Takes orders from the operator, back to back. Applies none unless it returns OK. */
enum error node_on_order(struct node *node, uint64_t now_ns, const uint8_t *bytes, size_t count,
                         struct problem *problem) MUST_USE;
uint32_t node_orders_count(const struct node *node); /* number of the latest known order */
/* Writes all known orders into out[NODE_ORDERS_MAX] for the next start and returns the number of
 * bytes. */
size_t node_orders(const struct node *node, uint8_t *out);

/* Checks stored proofs (wire/equivocation_proof.h), back to back. MISMATCH: they are of another
 * swarm or model, or damaged. MALFORMED: their size is impossible. */
#define NODE_PROOFS     256
#define NODE_PROOFS_MAX ((size_t)NODE_PROOFS * PROOF_BYTES)
enum error node_proofs_check(const struct node_options *options, struct problem *problem) MUST_USE;
/* Writes all known proofs into out[NODE_PROOFS_MAX] for the next start and returns the number of
 * bytes. If node_proofs_changes has grown since the last call, the bytes differ. */
size_t node_proofs(const struct node *node, uint8_t *out);
uint32_t node_proofs_changes(const struct node *node);

/* Entry i of the members that a proof or votes have expelled. Returns false after the last one. */
struct node_proof {
    uint8_t id[ID_BYTES];
    uint64_t incarnation; /* incarnation in which the member lied or harmed */
    uint32_t keep;        /* the rumors of that incarnation before this number stay */
    bool is_suspended;    /* all rumors of the member stay, because most logs no longer hold them */
    bool is_voted;        /* a majority has voted, but no proof exists */
};
bool node_proof(const struct node *node, uint32_t i, struct node_proof *out);

/* Arrival times of rumors, as far back as the log reaches. */
struct node_arrival {
    uint32_t seq;     /* number of a rumor */
    uint64_t came_ns; /* time by which this rumor and all earlier ones had arrived */
};
/* Writes arrivals of origin i (inspect.h), newest first, and returns their number: its last rumor,
 * the oldest one in the log, and some between them, at least a second and 1/32 of their age apart.
 * An order's limit may be any of them. */
#define NODE_ARRIVALS 512
uint32_t node_arrivals(const struct node *node, uint64_t now_ns, uint32_t i,
                       struct node_arrival out[static NODE_ARRIVALS]);
/* Returns the time since which the log has every rumor. An origin without arrivals has had no rumor
 * since then. */
uint64_t node_log_horizon_ns(const struct node *node);

#endif
