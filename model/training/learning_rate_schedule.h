/* The learning rate as a function of the samples of all nodes and of the number of nodes that
 * train. Tests: tests/unit/model/test_layers.c and test_optimizer.c. */
#ifndef HEARSAY_MODEL_TRAINING_LEARNING_RATE_SCHEDULE_H
#define HEARSAY_MODEL_TRAINING_LEARNING_RATE_SCHEDULE_H

#include "training/optimizer.h"

/* Progress of the swarm, as far as a node knows. */
struct swarm_progress {
    uint64_t samples; /* samples that all nodes have learned */
    double learners;  /* effective number of nodes that train, >= 1 */
};

/* Returns the settings of SGD for the next step. During the warm-up the rate rises linearly from
 * about 0 to `rate`. Then CONSTANT: rate. STEP: rate · decay^floor(samples / period). COSINE: falls
 * to rate · decay at `period` samples, then constant (Loshchilov, Hutter 2017, without restarts).
 * DOWNHILL: falls linearly to the same rate, then constant. INVERSE_ROOT: rate / sqrt(1 + s /
 * (period · learners)), s = samples since the warm-up, but at least rate · decay; it needs no known
 * end (tests/decisions/036-falling-rate.md). */
struct sgd schedule_sgd(const struct optimizer *optimizer, struct swarm_progress swarm);

/* Returns the settings of Adam for the next step. step: its number, from 1. */
struct adam schedule_adam(const struct optimizer *optimizer, struct swarm_progress swarm,
                          uint64_t step);

#endif
