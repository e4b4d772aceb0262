#include "state/export.h"

#include <stdio.h>
#include <stdlib.h>

#include "node/broadcast/version.h"

void base_file_path(char path[static BASE_PATH_BYTES], const char *folder)
{
    (void)snprintf(path, BASE_PATH_BYTES, "%s/base.safetensors", folder);
}

enum status base_file_save(const struct base_file *file, struct learner_state *state,
                           const uint8_t *history, size_t history_bytes, uint64_t samples,
                           struct problem *problem)
{
    struct tensors_about about = file->about;
    char *version = malloc(TENSORS_VERSION_MAX);
    CHECK(version);
    history_text(history, history_bytes, version, TENSORS_VERSION_MAX);
    for (size_t c = 0; c < state->parameters; c++)
        state->weights[c] = QUANTUM * (float)state->base[c];
    about.digest = learner_state_digest(state);
    about.samples = samples;
    about.version = version;
    const enum status status =
        tensors_save(file->path, file->model, &about, state->weights, problem);
    free(version);
    return status;
}
