#ifndef HEARSAY_NODE_TRANSFER_DIGEST_VOTES_PRIVATE_H
#define HEARSAY_NODE_TRANSFER_DIGEST_VOTES_PRIVATE_H

#include "node/connection/connection.h"
#include "node/core.h"

/* The vote of a neighbour, from its last VERSION that could be compared with ours. */
struct digest_vote {
    bool is_known; /* the neighbour has voted */
    /* Digest of the neighbour's base minus the digest of ours, over the same rumors. Later
     * rumors do not change it. */
    uint64_t apart;
    uint64_t heard_ns; /* time when this neighbour's vote last made us read the log; 0 = never */
};

struct digest_votes {
    bool are_open;     /* members vote on our base, which is neither confirmed nor replaced */
    bool is_restored;  /* our base is from our own checkpoint, so no other node was its donor */
    bool is_tie_noted; /* a note has reported a tie of the votes */
    bool is_refuted;   /* one other base had more votes than ours, the donor's vote included */
    uint64_t apart;    /* digest of that other base minus ours; valid if is_refuted */
    /* Time when our base was last incomplete, or when voting began. Without a differing vote the
     * base is confirmed CONFIRM_NS later. */
    uint64_t whole_ns;
    uint64_t differ_ns; /* time of the first differing vote; 0 = no differing vote */
};

/* Call it when another version has just replaced ours: starts voting on its base. */
void digest_votes_begin(struct node *node);
/* Returns true if votes have refuted our base, so that this node must replace it. */
bool digest_votes_refute(const struct node *node);
/* Returns true if this neighbour voted for the base that is to replace our refuted one. */
bool digest_votes_prefer(const struct node *node, const struct peer *peer);

#endif
