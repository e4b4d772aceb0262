/* Inference with a learner: predictions of its base for a client's samples, in the memory of
 * evaluations. Held by tests/unit/config/test_inference_words.c. */
#ifndef HEARSAY_MODEL_TRAINING_INFERENCE_H
#define HEARSAY_MODEL_TRAINING_INFERENCE_H

#include "training/learner.h"

/* The form of a sample and of its prediction. */
struct inference_shape {
    struct shape shape;
    bool is_floats;     /* true = float32 as learned; false = bytes, which are normalised */
    size_t bytes;       /* bytes per sample */
    int outputs;        /* outputs per sample: logits, or predicted numbers */
    bool is_regression; /* predicted numbers */
};

/* False: it can say nothing, for it has a model of sequences, or no test samples. */
bool learner_inference_shape(const struct learner *learner, struct inference_shape *shape);

/* Writes numbers[count, outputs] for `count` samples of `bytes` bytes in total. */
void learner_predict(struct learner *learner, const uint8_t *samples, size_t bytes, uint32_t count,
                     float *numbers);

#endif
