#include "training/vitals.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "training/learner_private.h"

#define READ_PART ((size_t)1 << 16) /* entries downloaded at once */

/* Returns the norm of device[count]; adds the number of entries that are 0 to *zeros. Subnormal
 * numbers count as 0, because rounding keeps an exponential moving average from reaching 0. */
static double norm_of(const struct learner *learner, const float *device, size_t count,
                      uint32_t *zeros)
{
    float *part = memory_new(READ_PART, sizeof *part);
    double sum = 0;
    for (size_t first = 0; first < count; first += READ_PART) {
        const size_t left = count - first, size = size_min(left, READ_PART);
        learner->backend->download(learner->backend, part, device + first, size * sizeof *part);
        for (size_t i = 0; i < size; i++) {
            const bool is_zero = fabsf(part[i]) < FLT_MIN;
            sum += is_zero ? 0 : (double)part[i] * (double)part[i];
            *zeros += is_zero;
        }
    }
    free(part);
    return sqrt(sum);
}

/* Returns the gradients on the device from entry `at` on; for entries that LAMB moves as matrices,
 * its first moment. */
static const float *gradients_at(const struct learner *learner, size_t at)
{
    const bool is_direction =
        learner->options.optimizer.kind == OPTIMIZER_LAMB && at < model_decayed(learner->model);
    return (is_direction ? learner->moment[0] : learner->gradients.sum) + at;
}

void vitals_of(const struct learner *learner, struct vitals *vitals)
{
    CHECK(learner_can_step(learner) && learner->samples > 0);
    const struct model *model = learner->model;
    const size_t trained = model_trained(model), decayed = model_decayed(model);
    uint32_t ignored = 0;
    *vitals = (struct vitals){
        .weight_norm = norm_of(learner, weights_all(learner->replica.trained), trained, &ignored),
        .gradient_norm =
            hypot(norm_of(learner, gradients_at(learner, 0), decayed, &ignored),
                  norm_of(learner, gradients_at(learner, decayed), trained - decayed, &ignored)),
        .input_norm = (double)NAN,
    };
    for (int i = 0; i < model_tensors(model); i++) {
        const struct tensor tensor = model_tensor(model, i);
        const size_t count = tensor_entries(&tensor);
        if (tensor.offset == 0)
            vitals->input_norm = norm_of(learner, gradients_at(learner, 0), count, &ignored);
        if (tensor.rank != 1 || tensor.is_output || tensor.offset >= trained)
            continue;
        vitals->units += (uint32_t)count;
        (void)norm_of(learner, gradients_at(learner, tensor.offset), count, &vitals->idle);
    }
}

uint32_t vitals_classes(const struct learner *learner)
{
    CHECK(learner_can_step(learner));
    return learner->gradients.train.targets ? 0 : (uint32_t)model_outputs(learner->model);
}
