/* Shared by learner.c and learner_exchange.c. */
#ifndef HEARSAY_MODEL_TRAINING_LEARNER_PRIVATE_H
#define HEARSAY_MODEL_TRAINING_LEARNER_PRIVATE_H

#include "training/base_average.h"
#include "training/data_parallel.h"
#include "training/gradients.h"
#include "training/learner.h"

struct learner {
    struct backend *backend;        /* lent */
    struct model *model;            /* lent; NULL: somebody else steps */
    struct replica replica;         /* base and weights */
    struct learner_options options; /* as given, without start */
    uint64_t samples;               /* learned here */
    uint64_t swarm_samples;         /* learned by all, as far as is known */
    struct learner_relapses relapses;
    struct learner_saturation saturation;
    struct base_average average; /* of the base; without memory: none is kept */

    /* For training; all 0 without training samples. */
    struct gradients gradients;          /* of this device */
    struct data_parallel *data_parallel; /* the other devices; NULL: there are none */
    struct batch batch;                  /* the order of the samples */
    uint32_t size;                       /* samples of the next step */
    float rate_factor;                   /* times the scheduled rate */
    float *moment[LEARNER_MOMENTS_MAX];  /* [learner_moments][P] */
    uint64_t steps;                      /* that the moments have been through */
    struct step_input *host_input;       /* of the step being made */
    struct step_graph graph;             /* the operations of a step; with workers, its gradients */
    struct step_graph descent;           /* with workers: the operations of the optimizer */
    bool is_halfway;                     /* a gradient waits for learner_descend */

    /* For evaluation; NULL without test samples. */
    struct evaluator *evaluator;
};

/* Sets the samples per step. */
void learner_resize(struct learner *learner, uint32_t batch);

#endif
