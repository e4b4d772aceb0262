#ifndef HEARSAY_NODE_MEMBERSHIP_MEMBERSHIP_PRIVATE_H
#define HEARSAY_NODE_MEMBERSHIP_MEMBERSHIP_PRIVATE_H

#include "node/membership/membership.h"

struct membership {
    struct members members;
    uint32_t live;      /* number of live members, this node included */
    uint32_t reachable; /* number of live members, this node included, with an address to dial */
};

/* Removes const from a member: only this folder may change one. */
static inline struct member *membership_own(struct node *node, const struct member *member)
{
    return &node->membership->members.members[membership_number(node, member)];
}

#endif
