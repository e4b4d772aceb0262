/* The optimizer's settings. backend/optimizers.h has the optimizers.
 *
 *   samples of all nodes ─► schedule ─► rate ─► struct sgd or adam ─► optimizer_step.h
 *
 * Tests: tests/unit/model/test_optimizer.c and test_adam.c.
 */
#ifndef HEARSAY_MODEL_TRAINING_OPTIMIZER_H
#define HEARSAY_MODEL_TRAINING_OPTIMIZER_H

#include <stdint.h>

#include "backend/backend.h"

#define ADAM_EPSILON 1e-8f

enum schedule {
    CONSTANT,
    STEP,
    COSINE,
    DOWNHILL,
    INVERSE_ROOT,
    SCHEDULE_AUTO /* only in a configuration: config_resolve replaces it */
};

struct optimizer {
    enum optimizer_kind kind;
    /* sgd.rate: learning rate before warm-up and schedule are applied. sgd.momentum: also Adam's
     * beta1. sgd.weight_decay: Adam applies it to the weights, not to the moments. sgd.nesterov:
     * only SGD and Muon use it. */
    struct sgd sgd;
    float beta2; /* decay of the mean of squared gradients; not for SGD */
    float clip; /* largest norm of a gradient; a longer gradient is scaled to it; 0 = no clipping */
    enum schedule schedule;
    uint64_t warmup_samples; /* samples during which the rate rises */
    /* STEP: samples between two falls; COSINE, DOWNHILL: samples at the end of the fall, more than
     * warmup_samples; INVERSE_ROOT: samples of each node after the warm-up until the rate has
     * fallen by a factor of √2. */
    uint64_t period_samples;
    float decay; /* STEP: factor on the rate at each fall; other schedules: least rate / sgd.rate */
};

#endif
