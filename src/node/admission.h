/* Who may be in the swarm, as its owner tells a node: a list of members, and the operator's orders.
 *
 *   nothing given             whoever has the swarm key
 *   node_on_members           of those, who is on this list
 *   an order that admits      of those, who was admitted, on all nodes alike: no list counts
 *
 * What follows for the rooms of the node is admit.h's and expulsion.h's.
 */
#ifndef HEARSAY_NODE_ADMISSION_H
#define HEARSAY_NODE_ADMISSION_H

#include "base/error.h"
#include "crypto/identity.h"

struct node;

#define NODE_LISTED_MAX 1024

/* From now on these are the members: so many ids, back to back. Conversations with others end, and
 * none of them begins. Before the first event, or at any time later. */
void node_on_members(struct node *node, uint64_t now_ns, const uint8_t *ids, uint32_t count);

/* By what a member is one. */
enum admission {
    ADMISSION_KEY,   /* it has the swarm key, and nothing else is asked for */
    ADMISSION_LIST,  /* it is on this node's list */
    ADMISSION_ORDER, /* the operator has admitted it */
    ADMISSION_NONE   /* it is none */
};
enum admission node_admission(const struct node *node, const uint8_t id[static ID_BYTES]);

/* Those whom others take for members and this node does not, one incarnation at a time:
 * i < node_strangers. The last few hundred are known. */
struct node_stranger {
    uint8_t id[ID_BYTES]; /* who it is */
    uint64_t incarnation; /* which incarnation of it */
    uint64_t heard_ns;    /* when somebody last passed on something of it */
};
uint32_t node_strangers(const struct node *node);
void node_stranger(const struct node *node, uint32_t i, struct node_stranger *out);

/* No member that was called would have this node as one, so that it ends. */
bool node_is_turned_away(const struct node *node);

#endif
