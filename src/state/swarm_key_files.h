/* Saves and loads swarm keys that came with the operator's orders (node/swarm_keys.h). They are in
 * the state folder, each in a key file (crypto/identity.h) of mode 0600:
 *
 *   FOLDER/swarm.key        newest key; copy it to a machine that has only an older key
 *   FOLDER/swarm.key.older  previous key, as long as the node accepts it
 *   FOLDER/swarm.key.next   new key from `hearsay rekey`, until the running node has saved it
 *
 * Files appear completely or not at all (atomic_file.h). Tests:
 * tests/unit/state/test_swarm_key_files.c.
 */
#ifndef HEARSAY_STATE_SWARM_KEY_FILES_H
#define HEARSAY_STATE_SWARM_KEY_FILES_H

#include "node/swarm_keys.h"
#include "state/disk.h"

#define SWARM_KEY_FILE       "swarm.key"
#define SWARM_KEY_OLDER_FILE "swarm.key.older"
#define SWARM_KEY_NEXT_FILE  "swarm.key.next"

/* out: [NODE_SWARM_KEYS_MAX], receives the newest and the previous key. *bytes: size of the keys
 * that exist. FAILED, MALFORMED, FORGED: a file is no valid key file. */
enum error swarm_key_files_load(const char *folder, uint8_t *out, size_t *bytes,
                                struct problem *problem) MUST_USE;
/* keys: one or two keys, the newest first. FAILED: a file cannot be written. */
enum error swarm_key_files_save(const struct disk *disk, const char *folder, const uint8_t *keys,
                                size_t bytes, struct problem *problem) MUST_USE;

enum error swarm_key_files_hand_over(const struct disk *disk, const char *folder,
                                     const uint8_t key[static KEY_BYTES],
                                     struct problem *problem) MUST_USE;
/* MISSING: `hearsay rekey` has left no key. FAILED, MALFORMED, FORGED: the file is no valid key
 * file. */
enum error swarm_key_files_next(const char *folder, uint8_t key[static KEY_BYTES],
                                struct problem *problem) MUST_USE;
/* Deletes swarm.key.next. Call it after the node has saved or refused the key. */
void swarm_key_files_taken(const struct disk *disk, const char *folder);

#endif
