#include "state/export.h"

#include <stdio.h>
#include <stdlib.h>

#include "state/base_version.h"

void export_path(char path[static BASE_PATH_BYTES], const char *folder)
{
    (void)snprintf(path, BASE_PATH_BYTES, "%s/base.safetensors", folder);
}

enum error export_save(const struct export *file, struct learner_state *state,
                       const uint8_t *history, size_t history_bytes, struct problem *problem)
{
    struct safetensors_about about = file->about;
    CHECK(state->parameters == model_parameters(file->model));
    char *version = malloc(SAFETENSORS_VERSION_MAX);
    CHECK(version);
    base_version_text(history, history_bytes, version, SAFETENSORS_VERSION_MAX);
    for (size_t c = 0; c < state->parameters; c++)
        state->weights[c] = QUANTUM * (float)state->base[c];
    about.digest = learner_state_digest(state);
    about.samples = base_version_samples(history, history_bytes);
    about.version = version;
    const enum error error =
        safetensors_save(file->path, file->model, &about, state->weights, problem);
    free(version);
    return error;
}
