#ifndef HEARSAY_NODE_TRANSFER_LOST_RUMORS_PRIVATE_H
#define HEARSAY_NODE_TRANSFER_LOST_RUMORS_PRIVATE_H

#include "node/connection/connection.h"
#include "node/core.h"

/* A rumor of our version that one neighbour and our log lack. */
struct lost_rumor {
    uint64_t tag;      /* tag of its origin */
    uint32_t seq;      /* its number */
    uint64_t since_ns; /* time since which the neighbour lacks the rumor; 0 = no such rumor */
    uint64_t heard_ns; /* time when the neighbour's version was last compared; 0 = never */
};

/* Call it when another version has just replaced ours. */
void lost_rumors_forget(struct node *node);
/* Returns true if most neighbours lack rumors that only our base contains, so that this node must
 * take over the base of one of these neighbours. */
bool lost_rumors_refute(const struct node *node);
/* Returns true if this neighbour has lacked a lost rumor of our base for LOST_NS. */
bool lost_rumors_prefer(const struct node *node, const struct peer *peer);

#endif
