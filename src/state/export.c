#include "state/export.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/companding.h"
#include "base/memory.h"
#include "state/base_version.h"

void export_path(char path[static BASE_PATH_BYTES], const char *folder)
{
    (void)snprintf(path, BASE_PATH_BYTES, "%s/base.safetensors", folder);
}

/* Converts base units to float32 weights in place. */
static const float *to_numbers(int32_t *units, size_t parameters, bool companded)
{
    for (size_t c = 0; c < parameters; c++) {
        const float number = weight_of_units(units[c], companded);
        memcpy(&units[c], &number, sizeof number);
    }
    return (const float *)(const void *)units;
}

enum error export_save(const struct export *file, int32_t *units, uint64_t digest,
                       const uint8_t *history, size_t history_bytes, struct problem *problem)
{
    struct safetensors_about about = file->about;
    const float *numbers = to_numbers(units, model_parameters(file->model), file->companded);
    char *version = memory_new(SAFETENSORS_VERSION_MAX, 1);
    base_version_text(history, history_bytes, version, SAFETENSORS_VERSION_MAX);
    about.digest = digest;
    about.samples = base_version_samples(history, history_bytes);
    about.version = version;
    const enum error error = safetensors_save(file->path, file->model, &about, numbers, problem);
    free(version);
    return error;
}
