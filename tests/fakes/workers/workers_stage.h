/* A stage for the methods of workers.h, without learners, links and time. A test says how a step
 * changes the weights, sees each message, and delivers it at any time.
 *
 *   stage_open(ako_play, …) ─► stage_step(i, change) ─► posts ─► stage_deliver(k)
 *
 * It replaces workers.c in a test's program (tests.cmake), so it keeps that file's promises on
 * workers_step, workers_descend and workers_send. The learning rate is 1, so the gradient is what a
 * step subtracts from the weights. A method only uses the experiment's scenario and model.
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

/* A message that was sent and is not delivered yet. */
struct stage_post {
    uint32_t from;
    uint32_t to;
    struct sim_message message;
};

struct workers {
    const struct workers_method *method;
    void *self; /* state of the method */
    struct experiment experiment;
    uint32_t count;
    size_t parameters;
    float *weights;  /* [count][P] each worker's weights */
    uint64_t *steps; /* [count] number of steps that each worker has made */
    /* [count] duration of each worker's step; 1 s unless the test changes it */
    uint64_t *step_ns;
    uint32_t *batches; /* [count] each worker's batch; 10 unless the test changes it */
    double *losses;    /* [count] each worker's loss per sample; 0 unless the test changes it */
    double *up;        /* [count] each worker's uplink in bytes per second; 0 = unlimited */
    struct rng rng;
    const float *change;                  /* [P] change of the weights in the current step */
    float *own;                           /* [P] copy of `change` for the method */
    struct stage_post posts[STAGE_POSTS]; /* messages, oldest first */
    uint32_t posts_count;
    uint32_t busy;       /* messages that wait at each link, besides `posts` */
    uint64_t sent_bytes; /* bytes of all messages so far, except those from a worker to itself */
};

typedef const float *stage_play(struct experiment *experiment, struct outcome *outcome);

/* Makes a stage whose method has not started. Before stage_begin, the test may change step_ns,
 * batches and up. */
struct workers *stage_new(uint32_t count, size_t parameters, const char *const *sets,
                          int sets_count);
void stage_begin(struct workers *stage, stage_play *play, const float *start);

/* Calls stage_new and stage_begin, with zero weights. sets: "key=value" of [strategy]. */
struct workers *stage_open(stage_play *play, uint32_t count, size_t parameters,
                           const char *const *sets, int sets_count);
void stage_close(struct workers *stage);

bool stage_may_step(struct workers *stage, uint32_t i);

/* Makes a step of worker i, which must be allowed to step. Adds change[P] to worker i's weights;
 * NULL = no change. */
void stage_step(struct workers *stage, uint32_t i, const float *change);

/* stage_deliver delivers message k. stage_deliver_all delivers all messages, also those sent
 * meanwhile. */
void stage_deliver(struct workers *stage, uint32_t k);
void stage_deliver_all(struct workers *stage);

float *stage_weights(struct workers *stage, uint32_t i);

double stage_sum(struct workers *stage, size_t c);

#endif
