/* One step of the optimizer over a model's flat vector. The table shows the rule for each kind of
 * tensor.
 *
 *            matrices, filters           biases, scales        statistics
 *   sgd      SGD, decayed                SGD                   moving average of the data's
 *   adam     AdamW, decayed              AdamW                      "
 *   lamb     LAMB, decayed, each alone   AdamW                      "
 *   muon     Muon, decayed, each alone   AdamW                      "
 *            (embeddings, first and last
 *            layer: AdamW, decayed)
 *
 * "decayed" means with weight decay, "each alone" means one call per tensor. The settings of a step
 * lie in memory of the backend, so that a recorded graph of a step can be replayed with new ones.
 * Tests: tests/unit/model/test_optimizer_step.c.
 */
#ifndef HEARSAY_MODEL_TRAINING_OPTIMIZER_STEP_H
#define HEARSAY_MODEL_TRAINING_OPTIMIZER_STEP_H

#include "layers/model.h"
#include "training/learning_rate_schedule.h"
#include "training/optimizer.h"

struct optimizer_step {
    struct sgd sgd;    /* settings of SGD and Muon */
    struct adam adam;  /* settings of Adam for entries with weight decay */
    struct adam bare;  /* settings of Adam for entries without weight decay */
    struct sgd follow; /* settings of SGD that make statistics follow the data */
    float clip;        /* largest norm of the gradients; 0 = no clipping */
    float factor;      /* factor that clips the gradients; set by optimizer_step_make */
};

/* swarm: the swarm's progress before the step. number: number of the step, from 1. parts: number of
 * parts whose gradients are summed. */
void optimizer_step_set(struct optimizer_step *step, const struct optimizer *optimizer,
                        const struct model *model, struct swarm_progress swarm, uint64_t number,
                        uint32_t parts);

/* Multiplies all learning rates of the step by `factor`, except the rate of statistics. */
void optimizer_step_scale(struct optimizer_step *step, float factor);

/* Moves weights[P] by gradients[P], which may be overwritten. step, weights, gradients and
 * moment[number of moments][P] lie in memory of the backend. */
void optimizer_step_make(struct backend *backend, const struct optimizer *optimizer,
                         const struct model *model, struct optimizer_step *step, float *weights,
                         float *gradients, float *const moment[2]);

#endif
