/* The state of this folder; only its own files include it. */
#ifndef HEARSAY_NODE_MEMBERSHIP_MEMBERSHIP_PRIVATE_H
#define HEARSAY_NODE_MEMBERSHIP_MEMBERSHIP_PRIVATE_H

#include "node/membership/membership.h"

struct membership {
    struct members members; /* newest record of each member */
    uint32_t live;          /* live members at the last note, this node included */
    uint32_t reachable;     /* those live members that listen */
};

/* Casts away const: only this folder may change a member. */
static inline struct member *membership_own(struct node *node, const struct member *member)
{
    return &node->membership->members.members[membership_number(node, member)];
}

#endif
