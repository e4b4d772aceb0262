/* Vitals of a learner: norms of its weights and of the last step's gradient, and idle units.
 *
 * The gradient is measured after the optimizer's step, without clipping. By then LAMB and Muon have
 * replaced the gradients of the matrices that they move by directions. LAMB's directions contain
 * weight decay, so the first moment is measured instead: the exponential moving average of the
 * (clipped) gradients. Tests: tests/unit/model/test_vitals.c.
 */
#ifndef HEARSAY_MODEL_TRAINING_VITALS_H
#define HEARSAY_MODEL_TRAINING_VITALS_H

#include <stdint.h>

struct learner;

struct vitals {
    double weight_norm;   /* Euclidean norm of all trained weights */
    double gradient_norm; /* Euclidean norm of the last step's gradient */
    double input_norm; /* gradient norm of the first layer's matrix; 0 = no gradient reaches it */
    uint32_t units;    /* number of trained biases and norm scales outside the last layer */
    uint32_t idle;     /* number of `units` whose gradient was 0 or subnormal */
};

/* Returns the number of classes or tokens that the learner predicts; 0 = it predicts numbers. */
uint32_t vitals_classes(const struct learner *learner);

/* Waits for the steps, of which there must be at least one, and downloads all weights and
 * gradients. */
void vitals_of(const struct learner *learner, struct vitals *vitals);

#endif
