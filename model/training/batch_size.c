#include "training/batch_size.h"

#include <math.h>

#include "base/error.h"

uint32_t pace_batch_max(size_t sample_bytes, uint64_t batch_bytes)
{
    uint32_t batch = PACE_BATCH_MAX;
    while (batch > PACE_BATCH_MIN && (uint64_t)batch * sample_bytes > batch_bytes)
        batch /= 2;
    return batch;
}

static uint32_t within(const struct pace *pace, double batch)
{
    return (uint32_t)fmin(fmax(batch, PACE_BATCH_MIN), pace->batch_max);
}

uint32_t pace_fit(const struct pace *pace, uint32_t batch, double samples_per_s)
{
    CHECK(batch > 0 && pace->batch_max >= PACE_BATCH_MIN);
    const double wanted = samples_per_s * (double)pace->step_ns * 1e-9;
    if (2 * wanted >= batch && wanted <= 2.0 * batch)
        return within(pace, batch);
    return within(pace, wanted >= 1 ? exp2(round(log2(wanted))) : 1);
}

uint32_t pace_on_step(struct pace *pace, uint32_t batch, uint64_t took_ns)
{
    if (pace->step_ns == 0)
        return batch;
    pace->samples += batch;
    pace->ns += took_ns;
    pace->steps++;
    if (pace->ns < pace->window_ns || pace->steps < PACE_STEPS)
        return batch;
    const double samples_per_s = (double)pace->samples / ((double)pace->ns * 1e-9);
    pace->samples = pace->ns = pace->steps = 0;
    return pace_fit(pace, batch, samples_per_s);
}
