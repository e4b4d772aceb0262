/* Swarm keys that the operator's orders have brought (node/swarm_keys.h), in the state folder, each
 * an ordinary key file (crypto/identity.h), mode 0600:
 *
 *   FOLDER/swarm.key        newest key; it may be copied to a machine with an old one
 *   FOLDER/swarm.key.older  previous key, while it is accepted
 *   FOLDER/swarm.key.next   key that `hearsay rekey` hands to the running node, with an order
 *
 * Files appear completely or not at all (atomic_file.h). Held by
 * tests/unit/state/test_swarm_key_files.c.
 */
#ifndef HEARSAY_STATE_SWARM_KEY_FILES_H
#define HEARSAY_STATE_SWARM_KEY_FILES_H

#include "node/swarm_keys.h"
#include "state/disk.h"

#define SWARM_KEY_FILE       "swarm.key"
#define SWARM_KEY_OLDER_FILE "swarm.key.older"
#define SWARM_KEY_NEXT_FILE  "swarm.key.next"

/* Loads the newest key and the one before it, if they exist, back to back into
 * out[NODE_SWARM_KEYS_MAX]. FAILED, MALFORMED, FORGED: a file is no valid key file. */
enum error swarm_key_files_load(const char *folder, uint8_t *out, size_t *bytes,
                                struct problem *problem) MUST_USE;
/* Saves the first two of the keys, which are back to back, newest first. */
enum error swarm_key_files_save(const struct disk *disk, const char *folder, const uint8_t *keys,
                                size_t bytes, struct problem *problem) MUST_USE;

enum error swarm_key_files_hand_over(const struct disk *disk, const char *folder,
                                     const uint8_t key[static KEY_BYTES],
                                     struct problem *problem) MUST_USE;
/* Reads the key that was handed over. MISSING: there is none; other errors as above. */
enum error swarm_key_files_next(const char *folder, uint8_t key[static KEY_BYTES],
                                struct problem *problem) MUST_USE;
/* Removes the key that was handed over: it is saved elsewhere, or useless. */
void swarm_key_files_taken(const struct disk *disk, const char *folder);

#endif
