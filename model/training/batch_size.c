#include "training/batch_size.h"

#include <math.h>

#include "base/error.h"

uint32_t batch_size_max(size_t sample_bytes, uint64_t batch_bytes)
{
    uint32_t batch = BATCH_SIZE_MAX;
    CHECK(sample_bytes <= SIZE_MAX / BATCH_SIZE_MAX);
    while (batch > BATCH_SIZE_MIN && (uint64_t)batch * sample_bytes > batch_bytes)
        batch /= 2;
    return batch;
}

static uint32_t within(const struct batch_size *batch_size, double batch)
{
    return (uint32_t)fmin(fmax(batch, BATCH_SIZE_MIN), batch_size->batch_max);
}

uint32_t batch_size_fit(const struct batch_size *batch_size, uint32_t batch, double samples_per_s)
{
    CHECK(batch > 0 && batch_size->batch_max >= BATCH_SIZE_MIN);
    const double wanted = samples_per_s * (double)batch_size->step_ns * 1e-9;
    if (2 * wanted >= batch && wanted <= 2.0 * batch)
        return within(batch_size, batch);
    return within(batch_size, wanted >= 1 ? exp2(round(log2(wanted))) : 1);
}

uint32_t batch_size_on_step(struct batch_size *batch_size, uint32_t batch, uint64_t took_ns)
{
    CHECK(batch > 0);
    if (batch_size->step_ns == 0)
        return batch;
    batch_size->samples += batch;
    batch_size->ns += took_ns;
    batch_size->steps++;
    if (batch_size->ns < batch_size->window_ns || batch_size->steps < BATCH_SIZE_STEPS)
        return batch;
    const double samples_per_s = (double)batch_size->samples / ((double)batch_size->ns * 1e-9);
    batch_size->samples = batch_size->ns = batch_size->steps = 0;
    return batch_size_fit(batch_size, batch, samples_per_s);
}
