/* Admission as a node's owner sets it: a member list, and the operator's orders.
 *
 *   nothing given             every holder of the swarm key is a member
 *   node_on_members           of those, the ids on this list
 *   an order that admits      of those, the admitted ids, equal on all nodes; lists no longer count
 *
 * admit.h and expulsion.h apply this to the other folders.
 */
#ifndef HEARSAY_NODE_ADMISSION_H
#define HEARSAY_NODE_ADMISSION_H

#include "base/error.h"
#include "crypto/identity.h"

struct node;

#define NODE_LISTED_MAX 1024

/* Replaces the member list: `count` ids, back to back. Ends conversations with nodes that are not
 * on the new list and starts no new ones with them. Call it before the first event or at any time
 * later. */
void node_on_members(struct node *node, uint64_t now_ns, const uint8_t *ids, uint32_t count);

/* How a member was admitted. */
enum admission {
    ADMISSION_KEY,   /* it has the swarm key, which is enough */
    ADMISSION_LIST,  /* it is on this node's list */
    ADMISSION_ORDER, /* the operator has admitted it */
    ADMISSION_NONE   /* not a member */
};
enum admission node_admission(const struct node *node, const uint8_t id[static ID_BYTES]);

/* A node that other members accept and this node does not. One entry per incarnation: i <
 * node_strangers; the latest few hundred are kept. */
struct node_stranger {
    uint8_t id[ID_BYTES]; /* id of that node */
    uint64_t incarnation; /* incarnation of that node */
    uint64_t heard_ns;    /* last time that a neighbour passed on a record or rumor of it */
};
uint32_t node_strangers(const struct node *node);
void node_stranger(const struct node *node, uint32_t i, struct node_stranger *out);

/* Returns true if every member that was dialled refused this node, and it therefore ends. */
bool node_is_turned_away(const struct node *node);

#endif
