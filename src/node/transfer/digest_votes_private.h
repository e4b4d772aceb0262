/* Digest votes of neighbours on the taken-over base; digest_votes.c explains them. */
#ifndef HEARSAY_NODE_TRANSFER_DIGEST_VOTES_PRIVATE_H
#define HEARSAY_NODE_TRANSFER_DIGEST_VOTES_PRIVATE_H

#include "node/connection/connection.h"
#include "node/core.h"

/* The vote of a neighbour, by its last comparable VERSION. */
struct digest_vote {
    bool is_known;     /* it has voted */
    uint64_t apart;    /* neighbour's digest minus ours over the same rumors; constant */
    uint64_t heard_ns; /* last time that a vote cost rumors of the log; 0 = never */
};

/* State of digest_votes.c. */
struct digest_votes {
    bool are_open;      /* our base is not confirmed yet */
    bool is_restored;   /* our base is from our own checkpoint, so it has no donor */
    bool is_tie_noted;  /* a tie was noted */
    bool is_refuted;    /* more votes are for one other base than for ours */
    uint64_t apart;     /* digest of that other base minus ours */
    uint64_t whole_ns;  /* time at which the base became complete, or a lower bound */
    uint64_t differ_ns; /* time of the first differing vote; 0 = none */
};

/* Starts voting on a base that was just taken over from another node. */
void digest_votes_begin(struct node *node);
/* Returns true if our base must be replaced. The next function returns true if this neighbour's
 * base may replace it. */
bool digest_votes_refute(const struct node *node);
bool digest_votes_prefer(const struct node *node, const struct peer *peer);

#endif
