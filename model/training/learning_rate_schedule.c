#include "training/learning_rate_schedule.h"

#include <math.h>

#include "base/error.h"

#define PI 3.14159265358979323846

static double rate_factor(const struct optimizer *optimizer, uint64_t samples)
{
    const uint64_t warmup = optimizer->warmup_samples, period = optimizer->period_samples;
    if (samples < warmup)
        return (double)(samples + 1) / (double)(warmup + 1);
    if (optimizer->schedule == CONSTANT)
        return 1;
    CHECK(period > warmup);
    const double decay = (double)optimizer->decay;
    if (optimizer->schedule == STEP)
        return pow(decay, (double)(samples / period));
    if (samples >= period)
        return decay;
    const double fallen = (double)(samples - warmup) / (double)(period - warmup);
    if (optimizer->schedule == DOWNHILL)
        return 1 - (1 - decay) * fallen;
    CHECK(optimizer->schedule == COSINE);
    return decay + (1 - decay) * (1 + cos(PI * fallen)) / 2;
}

struct sgd schedule_sgd(const struct optimizer *optimizer, uint64_t samples)
{
    struct sgd sgd = optimizer->sgd;
    sgd.rate = (float)((double)sgd.rate * rate_factor(optimizer, samples));
    return sgd;
}

struct adam schedule_adam(const struct optimizer *optimizer, uint64_t samples, uint64_t step)
{
    CHECK(step > 0);
    const struct sgd now = schedule_sgd(optimizer, samples);
    return (struct adam){.rate = now.rate,
                         .beta1 = now.momentum,
                         .beta2 = optimizer->beta2,
                         .epsilon = ADAM_EPSILON,
                         .weight_decay = now.weight_decay,
                         .step = step};
}
