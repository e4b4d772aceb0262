#include "training/learning_rate_schedule.h"

#include <math.h>

#include "base/error.h"

#define PI 3.14159265358979323846

static double rate_factor(const struct optimizer *optimizer, struct swarm_progress swarm)
{
    const uint64_t samples = swarm.samples;
    const uint64_t warmup = optimizer->warmup_samples, period = optimizer->period_samples;
    if (samples < warmup)
        return (double)(samples + 1) / (double)(warmup + 1);
    if (optimizer->schedule == CONSTANT)
        return 1;
    CHECK(period > 0 && swarm.learners >= 1);
    const double decay = (double)optimizer->decay;
    if (optimizer->schedule == INVERSE_ROOT)
        return fmax(decay,
                    1 / sqrt(1 + (double)(samples - warmup) / ((double)period * swarm.learners)));
    if (optimizer->schedule == STEP)
        return pow(decay, (double)(samples / period));
    if (samples >= period)
        return decay;
    CHECK(period > warmup);
    const double fallen = (double)(samples - warmup) / (double)(period - warmup);
    if (optimizer->schedule == DOWNHILL)
        return 1 - (1 - decay) * fallen;
    CHECK(optimizer->schedule == COSINE);
    return decay + (1 - decay) * (1 + cos(PI * fallen)) / 2;
}

struct sgd schedule_sgd(const struct optimizer *optimizer, struct swarm_progress swarm)
{
    struct sgd sgd = optimizer->sgd;
    sgd.rate = (float)((double)sgd.rate * rate_factor(optimizer, swarm));
    return sgd;
}

struct adam schedule_adam(const struct optimizer *optimizer, struct swarm_progress swarm,
                          uint64_t step)
{
    CHECK(step > 0);
    const struct sgd now = schedule_sgd(optimizer, swarm);
    return (struct adam){.rate = now.rate,
                         .beta1 = now.momentum,
                         .beta2 = optimizer->beta2,
                         .epsilon = ADAM_EPSILON,
                         .weight_decay = now.weight_decay,
                         .step = step};
}
