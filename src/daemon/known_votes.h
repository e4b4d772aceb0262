/* Votes that members harm, and the disk: as known_proofs.h, where the configuration asks for votes.
 *
 *   state_dir/votes ─► node ─ learns another ─► state_dir/votes
 */
#ifndef HEARSAY_DAEMON_KNOWN_VOTES_H
#define HEARSAY_DAEMON_KNOWN_VOTES_H

#include "daemon/unsaved.h"

struct known_votes {
    const char *folder;     /* the state folder; the caller's */
    uint8_t *known;         /* [NODE_VOTES_MAX] as they are on the disk; NULL: none are asked for */
    uint32_t saved;         /* changes (node_votes_changes) that the disk has */
    uint64_t save_ns;       /* not again before */
    struct unsaved unsaved; /* those that it could not be given yet */
};

/* Load those of the folder, and show them to the node that is to be made, if its options ask for
 * votes; MALFORMED, MISMATCH: they are not for it. folder must stay. */
enum error known_votes_load(struct known_votes *votes, const char *folder,
                            struct node_options *options, struct problem *problem) MUST_USE;
void known_votes_free(struct known_votes *votes);

/* Save what is new, if anything is, once a second: many votes come at a time, and what is lost is
 * learned again from others. Cheap enough for every event. */
void known_votes_keep(struct known_votes *votes, const struct node *node, struct event_log *report,
                      uint64_t now_ns);

#endif
