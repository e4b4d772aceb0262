#include "daemon/known_swarm_keys.h"

#include <string.h>

#include "state/incarnation.h"
#include "state/swarm_key_files.h"

/* Removes swarm.key.next if its key is on the disk as the newest one. Until then the file may have
 * the only copy of the key. */
static void remove_saved_next(const struct known_swarm_keys *keys)
{
    struct problem ignored;
    uint8_t key[KEY_BYTES];
    if (swarm_key_files_next(keys->folder, key, &ignored) == OK &&
        memcmp(key, keys->known, KEY_BYTES) == 0)
        swarm_key_files_taken(disk_real(), keys->folder);
    secret_wipe(key, sizeof key);
}

enum error known_swarm_keys_load(struct known_swarm_keys *keys, const char *folder,
                                 struct node_options *options, struct problem *problem)
{
    CHECK(options->has_operator && options->keys.memory);
    keys->folder = folder;
    keys->known = arena_alloc(options->keys.memory, NODE_SWARM_KEYS_MAX, 1);
    options->wall_ms = incarnation_wall_ms();
    options->kept.swarm_keys.at = keys->known;
    const enum error error =
        swarm_key_files_load(folder, keys->known, &options->kept.swarm_keys.bytes, problem);
    if (error == OK)
        remove_saved_next(keys);
    return error;
}

void known_swarm_keys_keep(struct known_swarm_keys *keys, const struct node *node,
                           struct event_log *report, uint64_t now_ns)
{
    struct problem problem;
    const uint32_t changes = node_swarm_keys_changes(node);
    if (!keys->folder || changes == keys->saved || !unsaved_may_try(&keys->unsaved, now_ns))
        return;
    secret_wipe(keys->known, NODE_SWARM_KEYS_MAX);
    const size_t bytes = node_swarm_keys(node, keys->known);
    const enum error error =
        bytes == 0 ? OK
                   : swarm_key_files_save(disk_real(), keys->folder, keys->known, bytes, &problem);
    if (unsaved_on_tried(&keys->unsaved, error, &problem, NOTE_REKEY, SWARM_KEY_FILE, report,
                         now_ns)) {
        keys->saved = changes;
        remove_saved_next(keys);
    }
}

/* Gives the node the key that `hearsay rekey` left in the folder, if there is one, and saves the
 * node's keys. Removes the file and reports an error if the file is invalid or the node refuses the
 * key, for example because it knows no order for it. */
static void take_next(struct known_swarm_keys *keys, struct node *node, struct event_log *report,
                      uint64_t now_ns)
{
    struct problem problem, why;
    uint8_t key[KEY_BYTES];
    enum error error = swarm_key_files_next(keys->folder, key, &problem);
    if (error == MISSING)
        return;
    if (error == OK) {
        error = node_on_swarm_key(node, now_ns, key, &why);
        if (error != OK)
            (void)problem_set(&problem, error, "%.300s/" SWARM_KEY_NEXT_FILE ": %s", keys->folder,
                              why.text);
    }
    secret_wipe(key, sizeof key);
    known_swarm_keys_keep(keys, node, report, now_ns);
    if (error == OK)
        return;
    swarm_key_files_taken(disk_real(), keys->folder);
    event_log_say(report, now_ns, NOTE_REKEY, LEVEL_ERROR, problem.text);
}

void known_swarm_keys_look(struct known_swarm_keys *keys, struct node *node,
                           struct event_log *report, uint64_t now_ns)
{
    struct node_swarm_key key;
    if (!keys->folder)
        return;
    node_on_clock(node, now_ns, incarnation_wall_ms());
    node_swarm_key(node, &key);
    if (key.missing > 0)
        take_next(keys, node, report, now_ns);
}
