/* Computes the gradients of a step on one device: the learner's own, or a data-parallel worker.
 *
 *   step_input ─► gather ─► augment ─► forward, backward, part after part ─► sum[P], score
 *
 * Tests: tests/unit/model/test_data_parallel.c and test_sequence_learner.c.
 */
#ifndef HEARSAY_MODEL_TRAINING_GRADIENTS_H
#define HEARSAY_MODEL_TRAINING_GRADIENTS_H

#include "data/augment.h"
#include "data/device_dataset.h"
#include "layers/model.h"
#include "training/optimizer_step.h"

/* The inputs of a step, which are uploaded in one piece. */
struct step_input {
    struct optimizer_step optimizer;
    /* [size] positions of the samples (batch.h), then augmentations and dropout seeds. */
    uint32_t sample[];
};

/* The division of a step into parts. Each device computes consecutive parts. */
struct step_cut {
    uint32_t size; /* samples of the step */
    uint32_t part; /* samples per part; the last part may have fewer */
    uint32_t each; /* samples per device, in whole parts; the last devices may have fewer */
};

struct gradients_options {
    struct step_cut most;           /* division of the largest step */
    struct augment_options augment; /* augmentation of the samples */
    float smoothing;                /* part of each label that is spread over all classes */
};

struct gradients {
    struct backend *backend;     /* not owned */
    struct model *model;         /* not owned; lives on `backend` */
    float smoothing;             /* part of each label that is spread over all classes */
    struct device_dataset train; /* training set on the backend */
    struct augmenter augmenter;  /* augmentation of the images, if any */
    float *sum;                  /* [P] sum of the gradients of this device's parts */
    float *part;              /* [P] gradient of a second or later part; NULL = one part at most */
    struct step_input *input; /* input of the step, on the backend */
    /* On the backend: sums of losses since the last gradients_take_score. */
    struct score *score;
};

void gradients_init(struct gradients *gradients, struct backend *backend, struct model *model,
                    const struct dataset *train, const struct gradients_options *options);

/* Returns the size in bytes of the input of a step of `size` samples. */
size_t gradients_input_bytes(const struct gradients *gradients, uint32_t size);

/* Returns the address of the augmentations in the input of a step, which may be in host or
 * backend memory. */
struct augmentation *gradients_augmentations(const struct gradients *gradients,
                                             struct step_input *input, uint32_t size);

/* Returns the address of the dropout seeds in the input of a step, which may be in host or
 * backend memory. */
uint32_t *gradients_draws(const struct gradients *gradients, struct step_input *input,
                          uint32_t size);

/* Computes one device's share of the step in gradients->input. which: number of the device, from
 * 0. Writes the sum of its gradients to gradients->sum: zeros if the share is empty. May be
 * recorded in a graph. */
void gradients_compute(struct gradients *gradients, const float *weights,
                       const struct step_cut *cut, uint32_t which);

/* Allocates the scratch buffers of the largest part: computes such a part from copies of sample 0
 * and discards the result. Call it before the first step. size: samples of the largest step. */
void gradients_reserve(struct gradients *gradients, const float *weights, uint32_t size);

/* Waits for the steps on this device. Returns the sums of their losses since the last call. */
struct score gradients_take_score(struct gradients *gradients);

void gradients_free(struct gradients *gradients);

#endif
