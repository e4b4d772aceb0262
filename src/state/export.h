/* The base as a file for anybody: base.safetensors in a node's folder, written after each
 * checkpoint. Who wants the model need not wait for the end, and has it even after a crash.
 * Held by tests/process/test_from_model.sh.
 */
#ifndef HEARSAY_STATE_EXPORT_H
#define HEARSAY_STATE_EXPORT_H

#include "state/safetensors.h"
#include "training/learner_state.h"

#define BASE_PATH_BYTES 1056

struct export
{
    char path[BASE_PATH_BYTES];
    const struct model *model;
    struct safetensors_about about; /* what is the same each time */
};

void export_path(char path[static BASE_PATH_BYTES], const char *folder);

/* The base of the state, which is the sum of the rumors in history (version.h). samples: learned by
 * the whole swarm, as far as is known. The state's weights are overwritten, for want of other room.
 * Fails as safetensors_save. May run in a thread of its own. */
enum error export_save(const struct export *file, struct learner_state *state,
                       const uint8_t *history, size_t history_bytes, uint64_t samples,
                       struct problem *problem) MUST_USE;

#endif
