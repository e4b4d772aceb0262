/* The best base: a copy of the saved base with the best score, to return to when a swarm has ruined
 * its model (commands/rewind.h, --to best).
 *
 *   FOLDER/base-best.safetensors   base.safetensors as it was then: another name of the same file,
 *                                  until a new one takes its place
 *   FOLDER/best                    its score, as JSON; "digest" says which base it is the score of
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
    struct evaluation score; /* of the base, on this node's part of its test set */
    uint64_t digest;         /* of the base */
    uint64_t saved_s;        /* when it was saved, in seconds since 1970 */
};

void best_base_path(char path[static BASE_PATH_BYTES], const char *folder);

/* After base.safetensors was saved: keeps it as the best one. FAILED: with a sentence. */
enum error best_base_keep(const struct disk *disk, const char *folder, const struct best_base *best,
                          struct problem *problem) MUST_USE;

/* MISSING: there is none, or its score is not known. FAILED, MALFORMED: with a sentence. */
enum error best_base_read(const struct disk *disk, const char *folder, struct best_base *best,
                          struct problem *problem) MUST_USE;

#endif
