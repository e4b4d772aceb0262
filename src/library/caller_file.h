/* The caller's bytes in the state folder, beside the checkpoints: STATE_DIR/caller.
 *
 *   OFFSET  SIZE  MEANING
 *   0       8     "hearsayE"
 *   8       8     digest of the base that its weights were at the first start (b0)
 *   16      8     n: bytes of the caller's; 0: none
 *   24      n     those bytes, as hearsay_save was given them
 *
 * Numbers are little-endian. It is a checksummed stream, and is there whole or not at all
 * (atomic_file.h). The digest is a part of what tells models apart; the tensors of a program that
 * begins again may hold anything. Held by tests/unit/library/test_caller_file.c.
 */
#ifndef HEARSAY_LIBRARY_CALLER_FILE_H
#define HEARSAY_LIBRARY_CALLER_FILE_H

#include <stddef.h>
#include <stdint.h>

#include <stdbool.h>

#include "base/error.h"

struct caller_file {
    uint64_t start_digest; /* of b0 */
    void *extra;           /* [bytes], from malloc; NULL: none */
    size_t bytes;          /* of extra */
};

/* MISSING: there is none. MALFORMED, FAILED: it is damaged, or cannot be read. *file is written
 * only on OK, and its extra is to be freed. */
enum error caller_file_load(const char *folder, struct caller_file *file,
                            struct problem *problem) MUST_USE;
/* FAILED: the disk refuses; what was there still is. */
enum error caller_file_save(const char *folder, const struct caller_file *file,
                            struct problem *problem) MUST_USE;

/* Is there a checkpoint in the folder, good or not? */
enum error caller_file_has_checkpoint(const char *folder, bool *has,
                                      struct problem *problem) MUST_USE;

#endif
