/* Digest votes of neighbours on the taken-over base; digest_votes.c explains them. */
#ifndef HEARSAY_NODE_TRANSFER_DIGEST_VOTES_PRIVATE_H
#define HEARSAY_NODE_TRANSFER_DIGEST_VOTES_PRIVATE_H

#include "node/connection/connection.h"
#include "node/core.h"

/* The vote of a neighbour, from its last VERSION that could be compared. */
struct digest_vote {
    bool is_known;  /* the neighbour has voted */
    uint64_t apart; /* the neighbour's digest minus ours, over the same rumors; later rumors do not
                       change it */
    uint64_t heard_ns; /* time when its vote last made us read rumors of the log; 0 = never */
};

/* State of digest_votes.c. */
struct digest_votes {
    bool are_open;      /* our base is not confirmed yet */
    bool is_restored;   /* our base is from our own checkpoint, so it has no donor */
    bool is_tie_noted;  /* a note on a tie was added */
    bool is_refuted;    /* more votes are for one other base than for ours */
    uint64_t apart;     /* digest of the most frequent other base minus ours */
    uint64_t whole_ns;  /* time when the base became complete, or an earlier time */
    uint64_t differ_ns; /* time of the first differing vote; 0 = none */
};

/* Starts voting on a base that was just taken over from another node. */
void digest_votes_begin(struct node *node);
/* Returns true if votes have refuted our base, so that it must be replaced. */
bool digest_votes_refute(const struct node *node);
/* Returns true if this neighbour voted for the base that is to replace our refuted base. */
bool digest_votes_prefer(const struct node *node, const struct peer *peer);

#endif
