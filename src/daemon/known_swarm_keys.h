/* Stores on disk the swarm keys that came with orders. Also passes a new key from `hearsay rekey`
 * to the node.
 *
 *   state_dir/swarm.key, .older ─► node ─ new keys ─► state_dir/swarm.key, .older
 *   state_dir/swarm.key.next ────► node_on_swarm_key        once a second, if a key is missing
 */
#ifndef HEARSAY_DAEMON_KNOWN_SWARM_KEYS_H
#define HEARSAY_DAEMON_KNOWN_SWARM_KEYS_H

#include "daemon/unsaved.h"
#include "node/swarm_keys.h"

struct known_swarm_keys {
    const char *folder; /* borrowed; NULL = the keys are not loaded */
    /* [NODE_SWARM_KEYS_MAX] bytes: keys on the disk, in options.keys.memory */
    uint8_t *known;
    /* value of node_swarm_keys_changes when the files were last written */
    uint32_t saved;
    struct unsaved unsaved;
};

/* Loads the keys in the state folder into the node's options. folder must stay valid. */
enum error known_swarm_keys_load(struct known_swarm_keys *keys, const char *folder,
                                 struct node_options *options, struct problem *problem) MUST_USE;

/* Saves the node's keys if they have changed. Cheap enough to be called after every event. */
void known_swarm_keys_keep(struct known_swarm_keys *keys, const struct node *node,
                           struct event_log *report, uint64_t now_ns);
/* Passes the wall-clock time to the node and, if the node lacks a key, a key from `hearsay rekey`.
 * Called once a second. */
void known_swarm_keys_look(struct known_swarm_keys *keys, struct node *node,
                           struct event_log *report, uint64_t now_ns);

#endif
