/* Deterministic pseudo-random numbers: the same seed gives the same run on every machine.
 * Not for secrets (those come from secret.h). SplitMix64: Steele, Lea, Flood 2014. */
#ifndef HEARSAY_BASE_RNG_H
#define HEARSAY_BASE_RNG_H

#include <stdint.h>

#include "base/on_device.h"

/* rng.state grows by this for each number. */
#define RNG_STEP 0x9E3779B97F4A7C15u

struct rng {
    uint64_t state;
};

/* Returns a well-mixed 64-bit hash of x; a bijection. */
ON_DEVICE static inline uint64_t rng_mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

/* Returns an independent generator for each pair of seed and stream. */
static inline struct rng rng_new(uint64_t seed, uint64_t stream)
{
    return (struct rng){rng_mix(seed + 0x9E3779B97F4A7C15u * (stream + 1))};
}

static inline uint64_t rng_next(struct rng *rng)
{
    rng->state += RNG_STEP;
    return rng_mix(rng->state);
}

/* Returns a uniform number in [0, bound), bound > 0. Multiply-shift; the bias is below 2^-32. */
static inline uint32_t rng_below(struct rng *rng, uint32_t bound)
{
    return (uint32_t)(((rng_next(rng) >> 32) * bound) >> 32);
}

/* Returns a uniform number in [0, 1) with 53 random bits. */
static inline double rng_uniform(struct rng *rng)
{
    return (double)(rng_next(rng) >> 11) * 0x1p-53;
}

#endif
