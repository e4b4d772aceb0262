/* The host program's bytes in the state folder, beside the checkpoints: STATE_DIR/caller.
 *
 *   OFFSET  SIZE  MEANING
 *   0       8     "hearsayE"
 *   8       8     digest of b0, the initial weights at the first start
 *   16      8     n: number of bytes; 0 = none
 *   24      n     the bytes given to hearsay_save
 *
 * Numbers are little-endian. The file is a checksummed stream, and exists either complete or not at
 * all (atomic_file.h). The digest is part of the model description. It is stored because the
 * tensors of a restarted program may hold any values. Tests:
 * tests/unit/library/test_caller_file.c.
 */
#ifndef HEARSAY_LIBRARY_CALLER_FILE_H
#define HEARSAY_LIBRARY_CALLER_FILE_H

#include <stddef.h>
#include <stdint.h>

#include <stdbool.h>

#include "base/error.h"

struct caller_file {
    uint64_t start_digest;
    void *extra; /* [bytes] from malloc; NULL = none */
    size_t bytes;
};

/* MISSING: there is no such file. MALFORMED: it is damaged. FAILED: it cannot be read. *file is
 * written only on OK, and the caller frees its extra. */
enum error caller_file_load(const char *folder, struct caller_file *file,
                            struct problem *problem) MUST_USE;
/* FAILED: the new file could not be written, and the old one stays. */
enum error caller_file_save(const char *folder, const struct caller_file *file,
                            struct problem *problem) MUST_USE;

/* Sets *has to true if the folder has a checkpoint, valid or not. */
enum error caller_file_has_checkpoint(const char *folder, bool *has,
                                      struct problem *problem) MUST_USE;

#endif
