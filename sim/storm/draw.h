/* Random draws of numbers, uniform or log-uniform, for the plan of a storm. */
#ifndef HEARSAY_SIM_STORM_DRAW_H
#define HEARSAY_SIM_STORM_DRAW_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"

/* Draws uniformly; both bounds are included. */
static inline uint64_t between(struct rng *rng, uint64_t low, uint64_t high)
{
    return low + (uint64_t)(rng_uniform(rng) * (double)(high - low + 1));
}

/* Draws log-uniformly; low must not be 0. */
static inline uint64_t between_log(struct rng *rng, uint64_t low, uint64_t high)
{
    return (uint64_t)((double)low * pow((double)high / (double)low, rng_uniform(rng)));
}

static inline bool one_in(struct rng *rng, uint32_t n)
{
    return rng_below(rng, n) == 0;
}

#endif
