#include "start.h"

#include <math.h>

#include "digest.h"
#include "tensors.h"

#define WEIGHT_MAX 100.0f /* a base holds up to 128, and the swarm is to move on */

static enum status digest_of(const char *path, const struct model *model, const float *weights,
                             uint64_t *digest, struct problem *problem)
{
    *digest = 0;
    for (size_t c = 0; c < model_parameters(model); c++) {
        if (!(fabsf(weights[c]) <= WEIGHT_MAX))
            return problem_set(problem, MALFORMED,
                               "%.300s: a weight is %g, and a swarm's are numbers from -%g to %g; "
                               "name another file",
                               path, (double)weights[c], (double)WEIGHT_MAX, (double)WEIGHT_MAX);
        const uint32_t units = (uint32_t)lrintf(weights[c] / QUANTUM);
        *digest = digest_add(*digest, digest_of_entry((uint32_t)c, units));
    }
    return OK;
}

enum status start_load(const char *path, const struct model *model, float *host_weights,
                       uint64_t *digest, struct problem *problem)
{
    struct problem why;
    enum status status = tensors_load(path, model, host_weights, &why);
    if (status == OK)
        status = digest_of(path, model, host_weights, digest, &why);
    return status == OK ? OK : problem_set(problem, status, "[model] start: %s", why.text);
}
