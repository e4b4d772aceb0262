/* What a rumor of another node that the learner has applied does to the base: node/effect.h asks.
 */
#ifndef HEARSAY_NODE_BROADCAST_APPLIED_RUMOR_H
#define HEARSAY_NODE_BROADCAST_APPLIED_RUMOR_H

#include "node/core.h"
#include "wire/signed_head.h"

struct applied_rumor {
    uint32_t place;   /* of its origin among the versions */
    uint32_t seq;     /* its number */
    double length;    /* of what it adds to the base (Euclidean), as weights */
    uint64_t samples; /* more than the rumor before it says that the origin has learned */
    bool is_compared; /* with the residual of the learner */
};

/* Of the oldest that the learner was given and has not answered. False: it is none of another node
 * that comes into the base. */
bool broadcast_applied_rumor(const struct node *node, struct applied_rumor *rumor);

#endif
