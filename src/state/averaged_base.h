/* Saves and loads the averaged base, an exponential moving average of the base
 * (training/base_average.h).
 *
 *   FOLDER/base-averaged.safetensors   written after base.safetensors, in its size and format
 *
 * The "digest" in the file is a checksum of the averaged weights. Nodes add to their averages at
 * different moments, so the files of two nodes are almost equal, but not bit for bit. A
 * restarted node continues from its file. Tests: tests/unit/state/test_averaged_base.c.
 */
#ifndef HEARSAY_STATE_AVERAGED_BASE_H
#define HEARSAY_STATE_AVERAGED_BASE_H

#include "base/error.h"
#include "state/export.h"
#include "training/learner.h"

void averaged_base_path(char path[static BASE_PATH_BYTES], const char *folder);

/* mean: [P] averaged weights. base: describes the base's file, whose metadata is copied. samples:
 * number that the swarm had learned when the average was last updated. FAILED: the file could not
 * be written; the problem says what to do. */
enum error averaged_base_save(const struct export *base, const char *folder, const float *mean,
                              uint64_t samples, struct problem *problem) MUST_USE;

/* Loads the average in this folder into the learner. Returns OK without loading if there is no
 * file, or if its model is another. An average that is newer than the learner's base is also
 * skipped, because the base may have been rewound. FAILED, MALFORMED, FORGED: the file cannot be
 * used, and the learner starts a new average. */
enum error averaged_base_load(const char *folder, struct learner *learner,
                              struct problem *problem) MUST_USE;

#endif
