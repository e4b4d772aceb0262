/* The evaluator: computes loss and accuracy of any weights on the test samples.
 *
 *   host weights[P] ─► backend ─► forward, loss over samples from .. to-1 ─► evaluation
 *
 * Evaluations are independent: the same weights always give the same result, bit for bit. So a
 * simulation in one thread uses one evaluator for all its nodes. Tests:
 * tests/unit/model/test_evaluator.c.
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
    uint32_t samples; /* number of evaluated samples, or of positions in sequences */
    uint32_t correct;
    double loss;        /* mean loss in nats; for regression, mean squared error */
    bool is_regression; /* the model predicts numbers, not classes or tokens */
    bool is_sequence;
    double variance; /* regression: variance of the whole test set's targets; 0 otherwise */
};

/* Returns the fraction of correct predictions, 0 .. 1; NAN if no sample was evaluated. For
 * regression, returns R² (coefficient of determination), or 0 if R² is negative or undefined. */
double evaluation_accuracy(const struct evaluation *evaluation);

/* Returns R² = 1 - loss / variance of a regression, at most 1; NAN if the targets do not vary. */
double evaluation_r2(const struct evaluation *evaluation);

/* Copies the test samples, at least one, to the backend; the dataset can be freed afterwards. The
 * model may be shared with learners (model.h). */
struct evaluator *evaluator_new(struct arena *arena, struct backend *backend, struct model *model,
                                const struct dataset *test);

/* Evaluates host_weights[P] on the test samples from .. to-1, to <= evaluator_samples. Returns all
 * zeros if from >= to. */
struct evaluation evaluator_run(struct evaluator *evaluator, const float *host_weights,
                                uint32_t from, uint32_t to);

/* Sets entries first .. first+count-1 of the weights that evaluator_score and evaluator_predict
 * use. */
void evaluator_set_part(struct evaluator *evaluator, size_t first, size_t count,
                        const float *host_weights);

/* Returns the weights [P] set by evaluator_set_part, on the backend. */
const float *evaluator_weights(const struct evaluator *evaluator);

/* Evaluates the weights set by evaluator_set_part on the test samples from .. to-1. Returns all
 * zeros if from >= to. */
struct evaluation evaluator_score(struct evaluator *evaluator, uint32_t from, uint32_t to);

/* Scores one batch of the largest size, so that the model allocates its scratch buffers. */
void evaluator_reserve(struct evaluator *evaluator);

/* Sets a function to call after each batch of an evaluation, with the number of samples scored so
 * far and the total number; NULL = no calls. */
void evaluator_watch(struct evaluator *evaluator,
                     void (*watch)(void *context, uint32_t done, uint32_t all), void *context);

/* Predicts `count` samples with the weights set by evaluator_set_part and writes numbers[count,
 * outputs]. The samples have the format of the test samples: bytes or floats. */
void evaluator_predict(struct evaluator *evaluator, const uint8_t *samples, uint32_t count,
                       float *numbers);

/* Returns the test samples on the device, for example to read the format of a sample. */
const struct device_dataset *evaluator_test(const struct evaluator *evaluator);

uint32_t evaluator_samples(const struct evaluator *evaluator);

void evaluator_free(struct evaluator *evaluator);

#endif
