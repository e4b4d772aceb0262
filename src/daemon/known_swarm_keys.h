/* The swarm keys that orders bring, and the disk: they are loaded at the start, and saved as soon
 * as there is a new one or an old one is given up; and what `hearsay rekey` hands over is given to
 * the node, which is told the time.
 *
 *   state_dir/swarm.key, .older ─► node ─ learns another ─► state_dir/swarm.key, .older
 *   state_dir/swarm.key.next ────► node_on_swarm_key        once a second, if one is missing
 */
#ifndef HEARSAY_DAEMON_KNOWN_SWARM_KEYS_H
#define HEARSAY_DAEMON_KNOWN_SWARM_KEYS_H

#include "daemon/unsaved.h"
#include "node/swarm_keys.h"

struct known_swarm_keys {
    const char *folder; /* the state folder; the caller's; NULL: not loaded */
    uint8_t *known;     /* [NODE_SWARM_KEYS_MAX] as they are on the disk; of options.keys.memory */
    uint32_t saved;     /* changes that the disk has */
    struct unsaved unsaved; /* those that it could not be given yet */
};

/* Load those of the folder, and show them to the node that is to be made. folder must stay. */
enum error known_swarm_keys_load(struct known_swarm_keys *keys, const char *folder,
                                 struct node_options *options, struct problem *problem) MUST_USE;

/* Save what is new, if anything is: cheap enough for every event. */
void known_swarm_keys_keep(struct known_swarm_keys *keys, const struct node *node,
                           struct event_log *report, uint64_t now_ns);
/* Once a second. */
void known_swarm_keys_look(struct known_swarm_keys *keys, struct node *node,
                           struct event_log *report, uint64_t now_ns);

#endif
