/* Faults for the simulator. Tests: tests/unit/sim/test_ruin.c. */
#ifndef HEARSAY_MODEL_TRAINING_SHUFFLE_LABELS_H
#define HEARSAY_MODEL_TRAINING_SHUFFLE_LABELS_H

#include <stdint.h>

#include "training/learner.h"

/* Permutes the labels of the training samples, or raises each by one; the last becomes 0. Both do
 * nothing for sequences and regression. */
void learner_shuffle_labels(struct learner *learner, uint64_t seed);
void learner_shift_labels(struct learner *learner);

#endif
