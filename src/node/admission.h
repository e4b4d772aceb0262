/* Admission as a node's owner sets it: a member list, and the operator's orders.
 *
 *   nothing given             every holder of the swarm key is a member
 *   node_on_members           a holder of the key is a member if its id is on this list
 *   an order that admits      a holder of the key is a member if an order admits its id; lists no
 *                             longer count, and all nodes have the same members
 *
 * admit.h and expulsion.h apply this to the other folders.
 */
#ifndef HEARSAY_NODE_ADMISSION_H
#define HEARSAY_NODE_ADMISSION_H

#include "base/error.h"
#include "crypto/identity.h"

struct node;

#define NODE_LISTED_MAX 1024

/* Replaces the member list. ids: `count` ids, one after the other. Unless orders admit members,
 * ends conversations with nodes that are not on the new list. May be called before the first event
 * and at any later time. */
void node_on_members(struct node *node, uint64_t now_ns, const uint8_t *ids, uint32_t count);

/* How a node has become a member, as this node sees it. */
enum admission {
    ADMISSION_KEY,   /* it has the swarm key, which suffices */
    ADMISSION_LIST,  /* this node's member list has its id */
    ADMISSION_ORDER, /* an order of the operator admits it */
    ADMISSION_NONE
};
enum admission node_admission(const struct node *node, const uint8_t id[static ID_BYTES]);

/* A stranger: an incarnation of a node that is not admitted here, although a neighbour passed on
 * its record or rumor. i < node_strangers. Only the 256 strangers met last are kept. */
struct node_stranger {
    uint8_t id[ID_BYTES];
    uint64_t incarnation;
    uint64_t heard_ns; /* time when a record or rumor of the stranger last arrived */
};
uint32_t node_strangers(const struct node *node);
void node_stranger(const struct node *node, uint32_t i, struct node_stranger *out);

/* Returns true if the node ends because no member admits it. */
bool node_is_turned_away(const struct node *node);

#endif
