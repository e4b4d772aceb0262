#include "config/initial_weights.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/memory.h"
#include "state/model_folder.h"
#include "state/safetensors.h"

#define WEIGHT_MAX 100.0f /* a base holds up to 128: training needs room to move */

static enum error check_weights(const char *path, const float *weights, size_t count,
                                struct problem *problem)
{
    for (size_t c = 0; c < count; c++)
        if (!(fabsf(weights[c]) <= WEIGHT_MAX))
            return problem_set(problem, MALFORMED,
                               "%.300s: a weight is %g, and a swarm's are numbers from -%g to %g; "
                               "name another file",
                               path, (double)weights[c], (double)WEIGHT_MAX, (double)WEIGHT_MAX);
    return OK;
}

static uint64_t digest_of(const float *weights, size_t count)
{
    uint64_t digest = 0;
    for (size_t c = 0; c < count; c++) {
        const uint32_t units = (uint32_t)lrintf(weights[c] / QUANTUM);
        digest = digest_add(digest, digest_of_entry((uint32_t)c, units));
    }
    return digest;
}

static enum error load(const char *path, const struct model *model, float *weights,
                       struct problem *problem)
{
    char file[MODEL_FOLDER_PATH_BYTES];
    model_folder_tensors(file, path);
    const enum error error = model_folder_is(path) ? model_folder_check(path, model, problem) : OK;
    return error == OK ? safetensors_load(file, model, weights, problem) : error;
}

enum error initial_weights_load(const char *path, const struct model *model, float *host_weights,
                                uint64_t *digest, struct problem *problem)
{
    const size_t count = model_parameters(model);
    float *weights = memory_new(count, sizeof *weights);
    enum error error = load(path, model, weights, problem);
    if (error == OK)
        error = check_weights(path, weights, count, problem);
    if (error == OK) {
        *digest = digest_of(weights, count);
        memcpy(host_weights, weights, count * sizeof *weights);
    }
    free(weights);
    return error;
}
