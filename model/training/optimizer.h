/* How the weights follow the gradients, and how fast: the rule, and the learning rate over the
 * course of training. */
#ifndef HEARSAY_MODEL_TRAINING_OPTIMIZER_H
#define HEARSAY_MODEL_TRAINING_OPTIMIZER_H

#include <stdint.h>

#include "backend/backend.h"

#define ADAM_EPSILON 1e-8f

enum optimizer_kind { OPTIMIZER_SGD, OPTIMIZER_ADAM };
enum schedule { CONSTANT, STEP, COSINE };

struct optimizer {
    enum optimizer_kind kind;
    struct sgd sgd; /* sgd.rate: the rate at the start. Adam takes all but nesterov from here: its
                       beta1 is the momentum, its weight decay goes past the moments */
    float beta2;    /* ADAM */
    enum schedule schedule;
    uint64_t period_samples; /* STEP: every so many samples; COSINE: the length of the fall */
    float decay;             /* STEP: the factor; COSINE: the rate at the end / at the start */
};

/* Vectors as long as the weights that it keeps from one step to the next: the momentum; and Adam's
 * mean of squares. */
static inline uint32_t optimizer_moments(const struct optimizer *optimizer)
{
    return optimizer->kind == OPTIMIZER_ADAM ? 2 : 1;
}

/* The settings to use after `samples` have been learned. CONSTANT: rate; STEP: rate · decay^floor(
 * samples / period); COSINE: from rate to rate · decay over one period, then stays
 * (Loshchilov, Hutter 2017, without restarts). */
struct sgd optimizer_at(const struct optimizer *optimizer, uint64_t samples);

/* The same for Adam; step: the one to be made, the first is 1. */
struct adam optimizer_adam_at(const struct optimizer *optimizer, uint64_t samples, uint64_t step);

#endif
