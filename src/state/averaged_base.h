/* Saves and loads the averaged base, which is the running mean of the base
 * (training/base_average.h).
 *
 *   FOLDER/base-averaged.safetensors   written after base.safetensors, in the same size and format
 *
 * Its "digest" is the checksum of its weights, since the mean is no base. Nodes add to their
 * averages at different moments, so the files of two nodes are almost equal and not bit for bit. A
 * restarted node continues from its file. Held by tests/unit/state/test_averaged_base.c.
 */
#ifndef HEARSAY_STATE_AVERAGED_BASE_H
#define HEARSAY_STATE_AVERAGED_BASE_H

#include "base/error.h"
#include "state/export.h"
#include "training/learner.h"

void averaged_base_path(char path[static BASE_PATH_BYTES], const char *folder);

/* Writes mean[P]. samples: samples of the swarm at its last addition. `base` describes the file of
 * the base, whose metadata is copied. FAILED: with a sentence. */
enum error averaged_base_save(const struct export *base, const char *folder, const float *mean,
                              uint64_t samples, struct problem *problem) MUST_USE;

/* Loads the average of this folder into the learner, if there is one of its model that is not newer
 * than its base (which may have been rewound). FAILED, MALFORMED, FORGED: with a sentence; the
 * learner then starts a new average. */
enum error averaged_base_load(const char *folder, struct learner *learner,
                              struct problem *problem) MUST_USE;

#endif
