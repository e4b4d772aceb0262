/* The evaluator: loss and accuracy of any weights on the test samples; of numbers, the error.
 *
 *   host weights[P] ─► backend ─► forward, loss over samples from .. to-1 ─► evaluation
 *
 * It keeps nothing of the weights it evaluated: the same weights give the same result, bit for bit,
 * whatever was evaluated or trained in between. So one evaluator serves a whole swarm in one
 * thread. Held by tests/unit/model/test_evaluator.c.
 */
#ifndef HEARSAY_MODEL_TRAINING_EVALUATOR_H
#define HEARSAY_MODEL_TRAINING_EVALUATOR_H

#include <stdbool.h>
#include <stdint.h>

#include "backend/backend.h"
#include "base/arena.h"
#include "data/dataset.h"
#include "layers/model.h"

struct evaluator;

struct evaluation {
    uint32_t samples;   /* samples evaluated; in sequences, positions */
    uint32_t correct;   /* correct predictions among them */
    double loss;        /* mean in nats; in regression, mean squared error */
    bool is_regression; /* not classes or tokens */
    bool is_sequence;   /* positions of sequences */
    double variance;    /* variance of the targets in the whole test set; otherwise 0 */
};

/* 0 .. 1: the part that was right; of regression, the part of the variance (R², the coefficient
 * of determination; a model that knows less than their mean has 0). NAN: nothing was evaluated. */
double evaluation_accuracy(const struct evaluation *evaluation);

/* R² itself, of regression: 1 - error / variance, at most 1; NAN where they do not vary. */
double evaluation_r2(const struct evaluation *evaluation);

/* Copies the test samples, at least one, to the backend; the dataset can be freed afterwards. The
 * model may be shared with learners (model.h). */
struct evaluator *evaluator_new(struct arena *arena, struct backend *backend, struct model *model,
                                const struct dataset *test);

/* Evaluates host_weights[P] on the test samples from .. to-1, to <= evaluator_samples. All 0 where
 * there are none. */
struct evaluation evaluator_run(struct evaluator *evaluator, const float *host_weights,
                                uint32_t from, uint32_t to);

/* The same in two steps, for weights that are nowhere in one piece: those of entries first ..
 * first+count-1, and when all are set, the samples. */
void evaluator_set_part(struct evaluator *evaluator, size_t first, size_t count,
                        const float *host_weights);
struct evaluation evaluator_score(struct evaluator *evaluator, uint32_t from, uint32_t to);

/* Takes the scratch buffers of the largest batch, by scoring one whose score is dropped. */
void evaluator_reserve(struct evaluator *evaluator);

/* To be called with how many samples of how many are scored, again and again while a score is made;
 * NULL: nobody wants to know. */
void evaluator_watch(struct evaluator *evaluator,
                     void (*watch)(void *context, uint32_t done, uint32_t all), void *context);

/* numbers[count, outputs] that the weights which are set say of samples[count]: of bytes, or
 * floats, as those of the test are. */
void evaluator_predict(struct evaluator *evaluator, const uint8_t *samples, uint32_t count,
                       float *numbers);
/* The test samples on the device, by which others are told what a sample is. */
const struct device_dataset *evaluator_test(const struct evaluator *evaluator);

uint32_t evaluator_samples(const struct evaluator *evaluator);

void evaluator_free(struct evaluator *evaluator);

#endif
