/* The exam: how good weights are, whosever they are, on the test samples.
 *
 *   host weights[P] ─► backend ─► forward, loss over samples from .. to-1 ─► evaluation
 *
 * It keeps nothing of the weights it marked: the same weights get the same mark, bit for bit,
 * whatever was marked or trained in between. So one exam serves a whole swarm in one thread.
 * Held by tests/unit/model/test_evaluator.c.
 */
#ifndef HEARSAY_MODEL_TRAINING_EVALUATOR_H
#define HEARSAY_MODEL_TRAINING_EVALUATOR_H

#include <stdint.h>

#include "base/arena.h"
#include "backend/backend.h"
#include "data/dataset.h"
#include "layers/model.h"

struct evaluator;

struct evaluation {
    uint32_t samples;
    uint32_t correct;
    double loss; /* mean */
};

/* The test samples, at least one, normalised by their mean and scale, are copied to the backend;
 * the dataset can be freed afterwards. The model may be shared with learners (model.h). */
struct evaluator *evaluator_new(struct arena *arena, struct backend *backend, struct model *model,
                                const struct dataset *test);

/* host_weights[P] over the test samples from .. to-1, to <= evaluator_samples; all 0 if there are
 * none.
 */
struct evaluation evaluator_mark(struct evaluator *evaluator, const float *host_weights,
                                 uint32_t from, uint32_t to);

uint32_t evaluator_samples(const struct evaluator *evaluator);

void evaluator_free(struct evaluator *evaluator);

#endif
