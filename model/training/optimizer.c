#include "training/optimizer.h"

#include <math.h>

#include "base/error.h"

#define PI 3.14159265358979323846

static double rate_factor(const struct optimizer *optimizer, uint64_t samples)
{
    if (optimizer->schedule == CONSTANT)
        return 1;
    CHECK(optimizer->period_samples > 0);
    const double decay = (double)optimizer->decay;
    if (optimizer->schedule == STEP)
        return pow(decay, (double)(samples / optimizer->period_samples));
    CHECK(optimizer->schedule == COSINE);
    if (samples >= optimizer->period_samples)
        return decay;
    double fallen = (double)samples / (double)optimizer->period_samples;
    return decay + (1 - decay) * (1 + cos(PI * fallen)) / 2;
}

struct sgd optimizer_at(const struct optimizer *optimizer, uint64_t samples)
{
    struct sgd sgd = optimizer->sgd;
    sgd.rate = (float)((double)sgd.rate * rate_factor(optimizer, samples));
    return sgd;
}

struct adam optimizer_adam_at(const struct optimizer *optimizer, uint64_t samples, uint64_t step)
{
    CHECK(step > 0);
    const struct sgd now = optimizer_at(optimizer, samples);
    return (struct adam){.rate = now.rate,
                         .beta1 = now.momentum,
                         .beta2 = optimizer->beta2,
                         .epsilon = ADAM_EPSILON,
                         .weight_decay = now.weight_decay,
                         .step = step};
}
