/* The state of the room; nobody outside this folder includes this. */
#ifndef HEARSAY_NODE_MEMBERSHIP_MEMBERSHIP_PRIVATE_H
#define HEARSAY_NODE_MEMBERSHIP_MEMBERSHIP_PRIVATE_H

#include "node/membership/membership.h"

struct membership {
    struct members members; /* the newest record of each */
    uint32_t live;          /* members that live, as last noticed, this node included */
    uint32_t reachable;     /* those of them that listen */
};

/* This room may change what others only look at. */
static inline struct member *membership_own(struct node *node, const struct member *member)
{
    return &node->membership->members.members[membership_number(node, member)];
}

#endif
