/* The best base: a copy of the saved base with the best score, to return to when a swarm has ruined
 * its model (commands/rewind.h, --to best).
 *
 *   FOLDER/base-best.safetensors   base.safetensors as it was then: a hard link, until a new
 *                                  base.safetensors replaces the original
 *   FOLDER/best                    its score, as JSON; "digest" identifies the base of this score
 *
 * Both files are replaced one after the other. A crash in between leaves a score whose digest is
 * not that of the base: then the base is kept and its score is unknown, so the next save replaces
 * it. Held by tests/unit/state/test_best_base.c and tests/process/test_guard.sh.
 */
#ifndef HEARSAY_STATE_BEST_BASE_H
#define HEARSAY_STATE_BEST_BASE_H

#include "base/error.h"
#include "state/disk.h"
#include "state/export.h"
#include "training/evaluator.h"

struct best_base {
    struct evaluation score; /* evaluation of the base on this node's part of its test set */
    uint64_t digest;         /* digest of the base */
    uint64_t saved_s;        /* time of saving, seconds since 1970 */
};

void best_base_path(char path[static BASE_PATH_BYTES], const char *folder);

/* Keeps base.safetensors, which was just saved, as the best base. FAILED: with a sentence. */
enum error best_base_keep(const struct disk *disk, const char *folder, const struct best_base *best,
                          struct problem *problem) MUST_USE;

/* Reads the score of the best base. MISSING: there is none, or its score is unknown. FAILED,
 * MALFORMED: with a sentence. */
enum error best_base_read(const struct disk *disk, const char *folder, struct best_base *best,
                          struct problem *problem) MUST_USE;

#endif
