/* The averaged base: a running mean of the base, over about the last tenth of the training.
 *
 *   publication, rumor ─► base, samples of the swarm ─► base_average_add ─► mean[P] ─► evaluation
 *
 * With a constant learning rate the base moves around the model that training has found. Its mean
 * lies closer to that model: the noise of single steps cancels out. A falling learning rate has the
 * same effect, but needs to know when the training ends, and a swarm does not.
 *
 * The base after s' of s samples has a weight in proportion to s'^(POWER - 1) (base_average.c), as
 * in the power-function mean of Karras et al. (2024, "Analyzing and Improving the Training Dynamics
 * of Diffusion Models", 3.1). So the averaged time grows with the training: its mean age is s /
 * (POWER + 1) samples. Measured in tests/decisions/002-average-the-base.md.
 * Tests: tests/unit/model/test_base_average.c.
 */
#ifndef HEARSAY_MODEL_TRAINING_BASE_AVERAGE_H
#define HEARSAY_MODEL_TRAINING_BASE_AVERAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "exchange/replica.h"

struct base_average {
    float *mean;      /* [P], on the host; NULL = no average is kept */
    float *part;      /* scratch buffer for pieces of the base */
    uint64_t samples; /* the swarm's samples at the last addition to the mean; 0 = empty mean */
};

void base_average_init(struct base_average *average, struct arena *arena, size_t parameters);

/* Adds the replica's base to the mean if `samples`, the number of samples that the swarm has
 * learned, has grown by at least 1/256 since the last addition. An empty mean takes any base with
 * samples > 0. Does nothing if average->mean is NULL. */
void base_average_add(struct base_average *average, const struct replica *replica,
                      uint64_t samples);

/* Empties the mean. Call it when another base has replaced the replica's. */
void base_average_clear(struct base_average *average);

/* Sets the mean to a saved mean[parameters]. samples: the swarm's samples at the last addition to
 * it. average->mean must not be NULL. */
void base_average_set(struct base_average *average, const float *mean, size_t parameters,
                      uint64_t samples);

#endif
