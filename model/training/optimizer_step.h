/* One step of the optimizer over a model's flat vector: which tensors move by which rule.
 *
 *            matrices, filters           biases, scales        statistics
 *   sgd      SGD, decayed                SGD                   follow what is measured
 *   adam     AdamW, decayed              AdamW                      "
 *   lamb     LAMB, decayed, each alone   AdamW                      "
 *   muon     Muon, decayed, each alone   AdamW                      "
 *            (embeddings, first and last
 *            layer: AdamW, decayed)
 *
 * The settings of a step lie in memory of the backend, so that steps can be recorded.
 * Held by tests/unit/model/test_optimizer_step.c.
 */
#ifndef HEARSAY_MODEL_TRAINING_OPTIMIZER_STEP_H
#define HEARSAY_MODEL_TRAINING_OPTIMIZER_STEP_H

#include "layers/model.h"
#include "training/optimizer.h"

/* The settings of one step. */
struct optimizer_step {
    struct sgd sgd;    /* parameters of SGD and Muon */
    struct adam adam;  /* parameters for the first model_decayed entries */
    struct adam bare;  /* the same for entries without weight decay */
    struct sgd follow; /* update rule of statistics */
    float clip;        /* largest norm of the gradients */
    float factor;      /* factor that clips them; optimizer_step_make writes it */
};

/* samples: learned by the swarm before the step. number: of the step, from 1. parts: whose
 * gradients were added up. */
void optimizer_step_set(struct optimizer_step *step, const struct optimizer *optimizer,
                        const struct model *model, uint64_t samples, uint64_t number,
                        uint32_t parts);

/* Multiplies all learning rates of the step; statistics follow as before. */
void optimizer_step_scale(struct optimizer_step *step, float factor);

/* Moves weights[P] by gradients[P], which may be overwritten. step, weights, gradients and
 * moment[optimizer_moments][P] lie in memory of the backend. */
void optimizer_step_make(struct backend *backend, const struct optimizer *optimizer,
                         const struct model *model, struct optimizer_step *step, float *weights,
                         float *gradients, float *const moment[2]);

#endif
