/* A planted fault: labels that have nothing to do with their samples any more. For the simulator.
 * Held by tests/unit/sim/test_ruin.c. */
#ifndef HEARSAY_MODEL_TRAINING_SHUFFLE_LABELS_H
#define HEARSAY_MODEL_TRAINING_SHUFFLE_LABELS_H

#include <stdint.h>

#include "training/learner.h"

/* Permutes the labels of the training samples, which a seed draws. Sequences and samples with
 * numbers to be predicted stay as they are. */
void learner_shuffle_labels(struct learner *learner, uint64_t seed);

#endif
