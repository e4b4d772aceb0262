/* Swarm keys that the operator's orders have brought (node/swarm_keys.h), in the state folder, each
 * a key file as any other (crypto/identity.h), mode 0600:
 *
 *   FOLDER/swarm.key        the newest; it may be copied to a machine that has an old one
 *   FOLDER/swarm.key.older  the one before it, while that still lets in
 *   FOLDER/swarm.key.next   the one that `hearsay rekey` hands to the node that runs there, with an
 *                           order for it
 *
 * They appear whole or not at all (atomic_file.h). Held by tests/unit/state/test_swarm_key_files.c.
 */
#ifndef HEARSAY_STATE_SWARM_KEY_FILES_H
#define HEARSAY_STATE_SWARM_KEY_FILES_H

#include "node/swarm_keys.h"
#include "state/disk.h"

#define SWARM_KEY_FILE       "swarm.key"
#define SWARM_KEY_OLDER_FILE "swarm.key.older"
#define SWARM_KEY_NEXT_FILE  "swarm.key.next"

/* The newest and the one before it, as far as there are any, back to back into
 * out[NODE_SWARM_KEYS_MAX]. FAILED, MALFORMED, FORGED: a file cannot be used as a key's. */
enum error swarm_key_files_load(const char *folder, uint8_t *out, size_t *bytes,
                                struct problem *problem) MUST_USE;
/* Keys back to back, the newest first, of which two are kept. */
enum error swarm_key_files_save(const struct disk *disk, const char *folder, const uint8_t *keys,
                                size_t bytes, struct problem *problem) MUST_USE;

enum error swarm_key_files_hand_over(const struct disk *disk, const char *folder,
                                     const uint8_t key[static KEY_BYTES],
                                     struct problem *problem) MUST_USE;
/* Reads the key that was handed over. MISSING: there is none; others as above. */
enum error swarm_key_files_next(const char *folder, uint8_t key[static KEY_BYTES],
                                struct problem *problem) MUST_USE;
/* It is kept otherwise, or of no use. */
void swarm_key_files_taken(const struct disk *disk, const char *folder);

#endif
