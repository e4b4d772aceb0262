/* The best base: a copy of the saved base with the best score. `hearsay rewind --to best` returns
 * to it after training has diverged (commands/rewind.h).
 *
 *   FOLDER/base-best.safetensors   base.safetensors that had the best score: a hard link to it,
 *                                  until the next save replaces base.safetensors
 *   FOLDER/best                    its score, as JSON; "digest" identifies the base of this score
 *
 * The two files are replaced one after the other. After a crash in between, the digest in the score
 * file is not the digest of the base. Then the base stays, its score counts as unknown, and the
 * next save replaces both. Tests: tests/unit/state/test_best_base.c and
 * tests/process/test_guard.sh.
 */
#ifndef HEARSAY_STATE_BEST_BASE_H
#define HEARSAY_STATE_BEST_BASE_H

#include "base/error.h"
#include "state/disk.h"
#include "state/export.h"
#include "training/evaluator.h"

struct best_base {
    struct evaluation score; /* on this node's part of its test set */
    uint64_t digest;
    uint64_t saved_s; /* time of saving, seconds since 1970 */
};

void best_base_path(char path[static BASE_PATH_BYTES], const char *folder);

/* Keeps base.safetensors, which was just saved, as the best base, and writes its score. FAILED: a
 * file could not be written. */
enum error best_base_keep(const struct disk *disk, const char *folder, const struct best_base *best,
                          struct problem *problem) MUST_USE;

/* MISSING: there is no best base, or its score is unknown. FAILED, MALFORMED: the score cannot be
 * read. */
enum error best_base_read(const struct disk *disk, const char *folder, struct best_base *best,
                          struct problem *problem) MUST_USE;

#endif
