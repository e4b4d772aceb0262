#include "start.h"

#include <stdlib.h>
#include <string.h>

#include "base_floats.h"
#include "tensors.h"

#define WEIGHT_MAX 100.0f /* a base holds up to 128, and the swarm is to move on */

enum status start_load(const char *path, const struct model *model, float *host_weights,
                       uint64_t *digest, struct problem *problem)
{
    struct problem why;
    const size_t count = model_parameters(model);
    float *weights = malloc(count * sizeof *weights);
    CHECK(weights);
    enum status status = tensors_load(path, model, weights, &why);
    if (status == OK)
        status = base_floats_check(path, weights, count, WEIGHT_MAX, &why);
    if (status == OK) {
        *digest = base_floats_digest(weights, count);
        memcpy(host_weights, weights, count * sizeof *weights);
    } else {
        (void)problem_set(problem, status, "[model] start: %s", why.text);
    }
    free(weights);
    return status;
}
