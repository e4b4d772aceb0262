#include "training/base_average.h"

#include <math.h>
#include <string.h>

#include "base/error.h"

/* exponent of the mean (base_average.h); a larger exponent forgets sooner */
#define POWER        10.0
#define SAMPLES_PART 256 /* the next addition is due when the samples have grown by 1/256 */
#define PART         ((size_t)1 << 16) /* entries of the base read at once */

void base_average_init(struct base_average *average, struct arena *arena, size_t parameters)
{
    const size_t part = size_min(parameters, PART);
    *average = (struct base_average){.mean = arena_alloc(arena, parameters, sizeof(float)),
                                     .part = arena_alloc(arena, part, sizeof(float))};
}

/* Returns the weight in the mean of a base that stands for the samples from `before` to `now`:
 * the integral of s^(POWER - 1) from `before` to `now`, divided by the integral from 0 to `now`. */
static float weight_of(uint64_t before, uint64_t now)
{
    CHECK(before < now);
    return (float)(1 - pow((double)before / (double)now, POWER));
}

static void add_part(float *mean, const float *base, size_t count, float weight)
{
    for (size_t c = 0; c < count; c++)
        mean[c] += weight * (base[c] - mean[c]);
}

static bool is_due(const struct base_average *average, uint64_t samples)
{
    return samples > average->samples &&
           samples - average->samples >= average->samples / SAMPLES_PART;
}

void base_average_add(struct base_average *average, const struct replica *replica, uint64_t samples)
{
    const size_t parameters = replica->parameters;
    if (!average->mean || !is_due(average, samples))
        return;
    const float weight = weight_of(average->samples, samples);
    for (size_t first = 0; first < parameters; first += PART) {
        const size_t left = parameters - first, count = size_min(left, PART);
        replica_read_base_part(replica, first, count, average->part);
        add_part(average->mean + first, average->part, count, weight);
    }
    average->samples = samples;
}

void base_average_clear(struct base_average *average)
{
    average->samples = 0;
}

void base_average_set(struct base_average *average, const float *mean, size_t parameters,
                      uint64_t samples)
{
    CHECK(average->mean);
    memcpy(average->mean, mean, parameters * sizeof *mean);
    average->samples = samples;
}
