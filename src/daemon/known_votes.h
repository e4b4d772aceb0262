/* Stores expulsion votes on disk, as known_proofs.h does for proofs, if the configuration has
 * votes.
 *
 *   state_dir/votes ─► node ─ learns another ─► state_dir/votes
 */
#ifndef HEARSAY_DAEMON_KNOWN_VOTES_H
#define HEARSAY_DAEMON_KNOWN_VOTES_H

#include "daemon/unsaved.h"

struct known_votes {
    const char *folder; /* state folder; belongs to the caller */
    /* [NODE_VOTES_MAX] votes on the disk; NULL = the configuration has no votes. */
    uint8_t *known;
    uint32_t saved;         /* value of node_votes_changes for the votes on the disk */
    uint64_t save_ns;       /* earliest time of the next save */
    struct unsaved unsaved; /* state of writes that failed */
};

/* Loads the votes of the folder into the node's options, if these have votes. MALFORMED, MISMATCH:
 * they do not fit this node. folder must stay valid. */
enum error known_votes_load(struct known_votes *votes, const char *folder,
                            struct node_options *options, struct problem *problem) MUST_USE;
void known_votes_free(struct known_votes *votes);

/* Saves new votes, if any, at most once a second: many arrive at a time, and lost ones are received
 * again. Cheap enough to be called after every event. */
void known_votes_keep(struct known_votes *votes, const struct node *node, struct event_log *report,
                      uint64_t now_ns);

#endif
