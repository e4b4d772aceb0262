/* Vitals of a learner: how training is, from its weights and the gradient of its last step.
 *
 * The gradient is as the optimizer left it: clipped, and with LAMB and Muon turned into a
 * direction. A part of it that is exactly 0 stays so. Held by tests/unit/model/test_vitals.c.
 */
#ifndef HEARSAY_MODEL_TRAINING_VITALS_H
#define HEARSAY_MODEL_TRAINING_VITALS_H

#include <stdint.h>

struct learner;

struct vitals {
    double weight_norm;   /* Euclidean norm of all trained weights */
    double gradient_norm; /* norm of the gradient */
    double input_norm;    /* norm of the first layer's matrix gradient; 0 = none reaches it */
    uint32_t units;       /* biases of all layers except the last */
    uint32_t idle;        /* biases whose gradient was exactly 0 */
};

/* Classes that the learner tells apart; 0: it predicts numbers. */
uint32_t vitals_classes(const struct learner *learner);

/* Waits for the steps, of which at least one was made. Reads all weights and gradients once. */
void vitals_of(const struct learner *learner, struct vitals *vitals);

#endif
