/* Parameters to exchange: weights, base and what may be told of them, for the tests of the
 * threshold and of the backend's operations. */
#ifndef HEARSAY_TESTS_SUPPORT_EXCHANGE_STATE_H
#define HEARSAY_TESTS_SUPPORT_EXCHANGE_STATE_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "support/host_backend.h"
#include "base/rng.h"

#define P 20000

static float w[P], w_before[P];
static int32_t base[P], base_before[P], base_at_last_publish[P];
static uint32_t bins[HISTOGRAM_BINS];
static uint32_t candidates[P];
static uint32_t index_[P];
static int8_t level[P];

static inline double normal(struct rng *rng)
{
    const double u = 1 - rng_uniform(rng), v = rng_uniform(rng);
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

/* What a telling looks at, without a step on. */
static inline uint32_t survey(float floor)
{
    const struct survey survey = {.floor = floor, .candidates = candidates, .candidates_max = P};
    memcpy(base_at_last_publish, base, sizeof base_at_last_publish);
    return backend->survey(backend, &survey, P, w, base, base_at_last_publish, bins);
}

static inline void cut_all(uint32_t capacity, struct update *cut)
{
    for (uint32_t c = 0; c < P; c++)
        candidates[c] = c;
    backend->cut(backend, P, candidates, w, base, capacity, cut);
}

#endif
