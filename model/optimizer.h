/* How fast to learn, and when: the learning rate over the course of training. */
#ifndef HEARSAY_OPTIMIZER_H
#define HEARSAY_OPTIMIZER_H

#include <stdint.h>

#include "backend.h"

enum schedule { CONSTANT, STEP, COSINE };

struct optimizer {
    struct sgd sgd; /* sgd.rate: the rate at the start */
    enum schedule schedule;
    uint64_t period_samples; /* STEP: every so many samples; COSINE: the length of the fall */
    float decay;             /* STEP: the factor; COSINE: the rate at the end / at the start */
};

/* The settings to use after `samples` have been learned. CONSTANT: rate; STEP: rate · decay^floor(
 * samples / period); COSINE: from rate to rate · decay over one period, then stays
 * (Loshchilov, Hutter 2017, without restarts). */
struct sgd optimizer_at(const struct optimizer *optimizer, uint64_t samples);

#endif
