/* Stores expulsion votes on disk, if the configuration allows votes. A node loads them at its start
 * and saves new ones.
 *
 *   state_dir/votes ─► node ─ new votes ─► state_dir/votes
 */
#ifndef HEARSAY_DAEMON_KNOWN_VOTES_H
#define HEARSAY_DAEMON_KNOWN_VOTES_H

#include "daemon/unsaved.h"

struct known_votes {
    const char *folder; /* state folder; borrowed */
    /* [NODE_VOTES_MAX] votes on the disk; NULL = the configuration does not allow votes. */
    uint8_t *known;
    uint32_t saved;         /* value of node_votes_changes for the votes on the disk */
    uint64_t save_ns;       /* earliest time of the next save */
    struct unsaved unsaved; /* state of writes that failed */
};

/* Loads the votes in the folder into the node's options, if these allow votes. MALFORMED, MISMATCH:
 * the votes are invalid, or for another swarm. folder must stay valid. */
enum error known_votes_load(struct known_votes *votes, const char *folder,
                            struct node_options *options, struct problem *problem) MUST_USE;
void known_votes_free(struct known_votes *votes);

/* Saves the node's votes if there is a new one, at most once a second, because many arrive together
 * and lost ones arrive again. Cheap, since it is called after every event. */
void known_votes_keep(struct known_votes *votes, const struct node *node, struct event_log *report,
                      uint64_t now_ns);

#endif
