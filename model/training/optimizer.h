/* The optimizer: how the weights follow the gradients (learning_rate_schedule.h).
 *
 *   samples of all nodes ─► schedule ─► rate ─► struct sgd or adam ─► backend.h
 *
 * Held by tests/unit/model/test_optimizer.c and test_adam.c.
 */
#ifndef HEARSAY_MODEL_TRAINING_OPTIMIZER_H
#define HEARSAY_MODEL_TRAINING_OPTIMIZER_H

#include <stdint.h>

#include "backend/backend.h"

#define ADAM_EPSILON 1e-8f

enum optimizer_kind {
    OPTIMIZER_SGD,
    OPTIMIZER_ADAM,
    OPTIMIZER_LAMB,
    OPTIMIZER_MUON,
    OPTIMIZER_AUTO /* only in a configuration: config_resolve replaces it */
};
enum schedule { CONSTANT, STEP, COSINE, DOWNHILL };

struct optimizer {
    enum optimizer_kind kind;
    struct sgd sgd; /* rate: at the start. Adam's beta1 is the momentum; its weight decay bypasses
                       the moments; only SGD and Muon use nesterov */
    float beta2;    /* decay of the mean of squares in Adam and LAMB */
    float clip;     /* largest norm of a gradient; longer ones are scaled; 0 = no clipping */
    enum schedule schedule;
    uint64_t warmup_samples; /* samples during which the rate rises; less than period_samples */
    uint64_t period_samples; /* STEP: samples per fall; COSINE, DOWNHILL: end of the fall */
    float decay; /* STEP: factor of a fall; COSINE, DOWNHILL: rate at the end / at the start */
};

/* Vectors of P floats that it keeps: the momentum, and the second moment of Adam, LAMB, and of
 * Muon's AdamW part. */
static inline uint32_t optimizer_moments(const struct optimizer *optimizer)
{
    return optimizer->kind == OPTIMIZER_SGD ? 1 : 2;
}

/* The momentum that lengthens steps: SGD's adds up, 1 / (1 - momentum) steps in one. That of Adam
 * and LAMB is a mean of gradients, no longer than one. */
static inline double optimizer_carries(enum optimizer_kind kind, double momentum)
{
    return kind == OPTIMIZER_ADAM || kind == OPTIMIZER_LAMB ? 0 : momentum;
}

#endif
