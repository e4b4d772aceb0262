/* What the owner of a node keeps and does about members that are put out: it gives the node orders
 * of the operator, keeps orders and proofs for the next start, and is told when rumors came, so
 * that an order can take out those since some moment. */
#ifndef HEARSAY_NODE_PUT_OUT_H
#define HEARSAY_NODE_PUT_OUT_H

#include "node/node.h"
#include "wire/order.h"
#include "wire/proof.h"

/* Orders of the operator, back to back (wire/order.h). MISMATCH: they are of another operator,
 * swarm or model. MALFORMED: they are none, or not numbered 1, 2, 3 … */
#define NODE_ORDERS_MAX ((size_t)ORDERS_MAX * ORDER_BYTES_MAX)
enum error node_orders_check(const struct node_options *options, struct problem *problem) MUST_USE;
/* The owner was given one by the operator, or some back to back. Anything but OK: none is obeyed.
 */
enum error node_on_order(struct node *node, uint64_t now_ns, const uint8_t *bytes, size_t count,
                         struct problem *problem) MUST_USE;
uint32_t node_orders_count(const struct node *node); /* those known: the number of the latest */
/* All that are known, into out[NODE_ORDERS_MAX], for the next start; returns their bytes. */
size_t node_orders(const struct node *node, uint8_t *out);

/* Proofs that members lie (wire/proof.h), back to back. MISMATCH: they are of another swarm
 * or model, or damaged. MALFORMED: of impossible size. */
#define NODE_PROOFS     256
#define NODE_PROOFS_MAX ((size_t)NODE_PROOFS * PROOF_BYTES)
enum error node_proofs_check(const struct node_options *options, struct problem *problem) MUST_USE;
/* All that are known, into out[NODE_PROOFS_MAX], for the next start; returns their bytes. They are
 * others whenever the count of changes has risen. */
size_t node_proofs(const struct node *node, uint8_t *out);
uint32_t node_proofs_changes(const struct node *node);

/* Who is out by a proof, or by votes; false: no more are. */
struct node_proof {
    uint8_t id[ID_BYTES];
    uint64_t incarnation; /* of it: in which it lied, or harmed */
    uint32_t keep;        /* the rumors of that incarnation before this one stay */
    bool is_suspended;    /* no: all stay, because most logs reach no further back */
    bool is_voted;        /* most members have voted that it harms: nothing is proven */
};
bool node_proof(const struct node *node, uint32_t i, struct node_proof *out);

/* When rumors came, as far back as the log reaches, and for a while. */
struct node_mark {
    uint32_t seq;     /* this rumor, and so all before it, */
    uint64_t came_ns; /* had come then */
};
/* Of origin i (inspect.h), the newest first: the last of its rumors, the first that is within
 * reach, and of those between some that came at least a second, and a 32nd of their age, apart.
 * What an order keeps may end with any of them. Returns how many there are. */
#define NODE_MARKS 512
uint32_t node_marks(const struct node *node, uint64_t now_ns, uint32_t i,
                    struct node_mark out[static NODE_MARKS]);
/* Whatever came since then is within reach: of an origin without marks there was nothing. */
uint64_t node_reach_ns(const struct node *node);

#endif
