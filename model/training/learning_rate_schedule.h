/* The learning-rate schedule: the rate after a number of samples of all nodes.
 *
 * Tests: tests/unit/model/test_optimizer.c and test_adam.c.
 */
#ifndef HEARSAY_MODEL_TRAINING_LEARNING_RATE_SCHEDULE_H
#define HEARSAY_MODEL_TRAINING_LEARNING_RATE_SCHEDULE_H

#include "training/optimizer.h"

/* Returns the settings of SGD after `samples` samples. CONSTANT: rate. STEP: rate ·
 * decay^floor(samples / period). COSINE: from rate to rate · decay over one period, then constant
 * (Loshchilov, Hutter 2017, without restarts). DOWNHILL: linearly from rate to rate · decay over
 * one period, then constant. During the warm-up the rate rises linearly from about 0 to `rate`;
 * COSINE and DOWNHILL begin to fall after the warm-up. */
struct sgd schedule_sgd(const struct optimizer *optimizer, uint64_t samples);

/* Returns the settings of Adam after `samples` samples. step: number of the next step, from
 * 1. */
struct adam schedule_adam(const struct optimizer *optimizer, uint64_t samples, uint64_t step);

#endif
