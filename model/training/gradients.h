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

/* The input of a step, which is uploaded in one piece. */
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
    struct step_cut most; /* division of the largest step */
    struct augment_options augment;
    float smoothing; /* part of each label that is spread over all classes, 0 .. 1 */
};

struct gradients {
    struct backend *backend;     /* not owned */
    struct model *model;         /* not owned; lives on `backend` */
    float smoothing;             /* part of each label that is spread over all classes, 0 .. 1 */
    struct device_dataset train; /* training set on the backend */
    struct augmenter augmenter;
    float *sum; /* [P], on the backend: sum of the gradients of this device's parts */
    /* [P], on the backend: gradient of each part after the first; NULL = the device never has more
     * than one part */
    float *part;
    struct step_input *input; /* on the backend */
    struct score *score;      /* on the backend: sums since the last gradients_take_score */
};

void gradients_init(struct gradients *gradients, struct backend *backend, struct model *model,
                    const struct dataset *train, const struct gradients_options *options);

/* Returns the size in bytes of the input of a step of `size` samples. */
size_t gradients_input_bytes(const struct gradients *gradients, uint32_t size);

/* gradients_augmentations returns the address of the augmentations in the input of a step,
 * gradients_draws that of the dropout seeds. The input may be in host or backend memory. */
struct augmentation *gradients_augmentations(const struct gradients *gradients,
                                             struct step_input *input, uint32_t size);

uint32_t *gradients_draws(const struct gradients *gradients, struct step_input *input,
                          uint32_t size);

/* Computes the share of device number `which`, from 0, of the step in gradients->input. Sets
 * gradients->sum, to zeros if the share is empty. May be recorded in a graph. */
void gradients_compute(struct gradients *gradients, const float *weights,
                       const struct step_cut *cut, uint32_t which);

/* Computes a part of the largest size, so that the model allocates its scratch buffers. Call it
 * before the first step, while the input is zeros: all samples are sample 0. size: samples of the
 * largest step. */
void gradients_reserve(struct gradients *gradients, const float *weights, uint32_t size);

/* Waits for the steps on this device. Returns the score of the steps since the last call. */
struct score gradients_take_score(struct gradients *gradients);

void gradients_free(struct gradients *gradients);

#endif
