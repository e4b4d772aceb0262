#ifndef HEARSAY_MODEL_TRAINING_LEARNER_PRIVATE_H
#define HEARSAY_MODEL_TRAINING_LEARNER_PRIVATE_H

#include "training/base_average.h"
#include "training/data_parallel.h"
#include "training/gradients.h"
#include "training/learner.h"

struct learner {
    struct backend *backend; /* not owned */
    struct model *model;     /* not owned; NULL = the host program makes the steps */
    struct replica replica;
    struct learner_options options; /* the caller's options; start and statistics are NULL */
    uint64_t samples;               /* samples learned by this learner */
    uint64_t swarm_samples;         /* samples learned by the swarm, as far as known */
    double learners;                /* effective number of nodes that train, as far as known */
    struct learner_resets resets;
    struct learner_saturation saturation;
    struct base_average average;

    /* The members down to is_halfway are for training. They are 0 without training samples. */
    struct gradients gradients;          /* gradients of the first device */
    struct data_parallel *data_parallel; /* the learner's other devices; NULL = none */
    struct batch batch;                  /* order of the training samples */
    uint32_t size;                       /* samples of the next step */
    float rate_factor;                   /* factor on the scheduled learning rate */
    float *moment[LEARNER_MOMENTS_MAX];  /* [learner_moments][P], on the backend */
    uint64_t steps;                      /* steps since the moments were zero */
    struct step_input *host_input;       /* input of the present step */
    struct step_graph graph;   /* recording of a step; with several devices, of its gradients */
    struct step_graph descent; /* with several devices: recording of the optimizer */
    bool is_halfway;           /* learner_gradient was called, learner_descend not yet */

    struct evaluator *evaluator; /* NULL without test samples */
};

/* Sets the samples per step, and drops recorded graphs if the number changes. */
void learner_resize(struct learner *learner, uint32_t batch);

/* Gives the evaluator the base's weights; the learner has an evaluator. */
void learner_show_base(struct learner *learner);

#endif
