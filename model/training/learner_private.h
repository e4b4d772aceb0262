/* What learner.c and learner_exchange.c share. */
#ifndef HEARSAY_MODEL_TRAINING_LEARNER_PRIVATE_H
#define HEARSAY_MODEL_TRAINING_LEARNER_PRIVATE_H

#include "data/device_dataset.h"
#include "training/learner.h"

struct step_input;

struct learner {
    struct backend *backend;        /* lent */
    struct model *model;            /* lent; NULL: somebody else steps */
    struct replica replica;         /* base and weights */
    struct learner_options options; /* as given, without start */
    uint64_t samples;               /* learned here */
    uint64_t swarm_samples;         /* learned by all, as far as is known */
    struct learner_relapses relapses;

    /* For training; all 0 without training samples. */
    struct device_dataset train;        /* on the backend */
    struct augmenter augmenter;         /* of the images; or none */
    struct batch batch;                 /* the order of the samples */
    uint32_t size;                      /* samples of the next step */
    float *gradients;                   /* [P] */
    float *part_gradients;              /* [P], of a part of a step; NULL: a step is one part */
    float *moment[LEARNER_MOMENTS_MAX]; /* [learner_moments][P] */
    uint64_t steps;                     /* that the moments have been through */
    struct step_input *host_input;      /* of the step being made */
    struct step_input *input;           /* the same on the backend */
    struct score *score;                /* of the steps since learner_losses */
    struct sequence sequence;           /* the operations of a step */
    bool is_halfway;                    /* a gradient waits for learner_descend */

    /* For evaluation; NULL without test samples. */
    struct evaluator *evaluator;
};

/* The next steps have so many samples. */
void learner_resize(struct learner *learner, uint32_t batch);

#endif
