/* Stores expulsion votes on disk, if the configuration allows votes.
 *
 *   state_dir/votes ─► node ─ new votes ─► state_dir/votes
 */
#ifndef HEARSAY_DAEMON_KNOWN_VOTES_H
#define HEARSAY_DAEMON_KNOWN_VOTES_H

#include "daemon/unsaved.h"

struct known_votes {
    const char *folder; /* borrowed */
    /* [NODE_VOTES_MAX] bytes: votes on the disk; NULL = votes are not allowed */
    uint8_t *known;
    uint32_t saved; /* value of node_votes_changes when the file was last written */
    uint64_t save_ns;
    struct unsaved unsaved;
};

/* Loads the votes in the state folder into the node's options, if the options allow votes.
 * MALFORMED, MISMATCH: the votes are invalid, or for another swarm. folder must stay valid. */
enum error known_votes_load(struct known_votes *votes, const char *folder,
                            struct node_options *options, struct problem *problem) MUST_USE;
void known_votes_free(struct known_votes *votes);

/* Saves the node's votes if there is a new one, at most once a second: many votes arrive
 * together, and peers send lost votes again. Cheap enough to be called after every event. */
void known_votes_keep(struct known_votes *votes, const struct node *node, struct event_log *report,
                      uint64_t now_ns);

#endif
