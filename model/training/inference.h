/* Predictions of a learner's base for a client's samples. Tests:
 * tests/unit/config/test_inference_words.c. */
#ifndef HEARSAY_MODEL_TRAINING_INFERENCE_H
#define HEARSAY_MODEL_TRAINING_INFERENCE_H

#include "training/learner.h"

/* The format of a sample and of its prediction. */
struct inference_shape {
    struct shape shape;
    bool is_floats; /* true = samples are float32; false = bytes, which the learner normalises */
    size_t bytes;   /* bytes per sample */
    int outputs;    /* outputs per sample: logits, or predicted numbers */
    bool is_regression; /* true = outputs are predicted numbers, false = logits */
};

/* Returns false if the learner cannot predict: its model reads sequences, or it has no test
 * samples. */
bool learner_inference_shape(const struct learner *learner, struct inference_shape *shape);

/* Predicts `count` samples, `bytes` bytes in total; writes numbers[count, outputs]. */
void learner_predict(struct learner *learner, const uint8_t *samples, size_t bytes, uint32_t count,
                     float *numbers);

#endif
