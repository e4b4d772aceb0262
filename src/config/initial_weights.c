#include "config/initial_weights.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/companding.h"
#include "base/digest.h"
#include "base/memory.h"
#include "state/model_folder.h"
#include "state/safetensors.h"

static enum error check_weights(const char *path, const float *weights, size_t count,
                                struct problem *problem)
{
    for (size_t c = 0; c < count; c++)
        if (!(fabsf(weights[c]) <= FIRST_WEIGHT_MAX))
            return problem_set(problem, MALFORMED,
                               "%.300s: a weight of %g is outside the range of a swarm, -%g to %g; "
                               "name another file",
                               path, (double)weights[c], (double)FIRST_WEIGHT_MAX,
                               (double)FIRST_WEIGHT_MAX);
    return OK;
}

bool initial_weights_compand(const struct model *model, const float *weights)
{
    bool companded = model_trained(model) < model_parameters(model);
    for (size_t c = 0; weights && !companded && c < model_parameters(model); c++)
        companded = fabsf(weights[c]) >= COMPANDING_WEIGHT;
    return companded;
}

static uint64_t digest_of(const float *weights, size_t count, bool companded)
{
    uint64_t digest = 0;
    for (size_t c = 0; c < count; c++) {
        const uint32_t units = (uint32_t)units_of_weight(weights[c], companded);
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
        *digest = digest_of(weights, count, initial_weights_compand(model, weights));
        memcpy(host_weights, weights, count * sizeof *weights);
    }
    free(weights);
    return error;
}
