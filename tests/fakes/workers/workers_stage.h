/* A stage for the methods of workers.h: the frame without learners, links and time. A test says
 * what a step does to the weights, sees each message on its way, and hands it over when it likes.
 *
 *   stage_open(ako_play, …) ─► stage_step(i, change) ─► posts ─► stage_deliver(k)
 *
 * It stands for workers.c in a test's program (tests.cmake), and so holds what that promises of
 * workers_step, workers_descend and workers_send. Gradients are what is taken from the weights: the
 * rate is 1. A method calls nothing else of the experiment than its scenario and its model.
 */
#ifndef HEARSAY_TESTS_FAKES_WORKERS_WORKERS_STAGE_H
#define HEARSAY_TESTS_FAKES_WORKERS_WORKERS_STAGE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "crypto/secret.h"
#include "strategies/strategy.h"
#include "strategies/workers.h"

#define STAGE_POSTS 512

/* A message on its way. */
struct stage_post {
    uint32_t from;
    uint32_t to;
    struct sim_message message;
};

struct workers {
    const struct workers_method *method;
    void *self; /* the method's own */
    struct experiment experiment;
    uint32_t count;
    size_t parameters;
    float *weights;    /* [count][P] */
    uint64_t *steps;   /* [count] */
    uint64_t *step_ns; /* [count]: a second, unless a test writes another */
    uint32_t *batches; /* [count]: 10, unless a test writes another */
    double *losses;    /* [count], of a sample: 0, unless a test writes another */
    double *up;        /* [count]: bytes per second; 0: no limit */
    struct rng rng;
    const float *change;                  /* [P]: what the step that is made does */
    float *own;                           /* [P] */
    struct stage_post posts[STAGE_POSTS]; /* the oldest first */
    uint32_t posts_count;
    uint32_t busy;       /* messages that wait on each line, besides the posts */
    uint64_t sent_bytes; /* of all so far, except those to oneself */
};

typedef const float *stage_play(struct experiment *experiment, struct outcome *outcome);

/* A stage that begin has not been called on: step_ns, batches and up may be written before. */
struct workers *stage_new(uint32_t count, size_t parameters, const char *const *sets,
                          int sets_count);
void stage_begin(struct workers *stage, stage_play *play, const float *start);

/* Both; weights start at 0. A set is "key=value" of [strategy]. */
struct workers *stage_open(stage_play *play, uint32_t count, size_t parameters,
                           const char *const *sets, int sets_count);
void stage_close(struct workers *stage);

bool stage_may_step(struct workers *stage, uint32_t i);

/* A step that adds change[P] to the weights, or 0: nothing. Worker i may step. */
void stage_step(struct workers *stage, uint32_t i, const float *change);

/* Hand over the k-th message, or all and those sent meanwhile. */
void stage_deliver(struct workers *stage, uint32_t k);
void stage_deliver_all(struct workers *stage);

float *stage_weights(struct workers *stage, uint32_t i);

/* The sum over all workers of entry c. */
double stage_sum(struct workers *stage, size_t c);

#endif
