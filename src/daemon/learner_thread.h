/* The learner's thread, and the only place where two threads meet.
 *
 *   loop thread (node)  ── orders (executor.h), evaluate, stop ──►  learner thread
 *                       ◄── stepped, answered, evaluated ─────────
 *
 * The learner's thread makes steps for as long as it may train, and between two steps does what it
 * was ordered, in order. Nothing here ever waits for the network: a step waits for at most the
 * orders that are already there. The node bounds what is under way (node.h, apply_window), so the
 * rings never overflow. With step_ns_min it sleeps until its next step is due, and orders wake it.
 *
 * A step leaves the base alone. So a READ that comes during one, or while the learner sleeps, is
 * performed at once on the loop's thread: a large model's base is served as fast as a link takes
 * it, however long a step. Whoever performs an order holds the mutex of orders from before it until
 * it is answered; the loop's thread never waits for it, but leaves the READ to the learner's.
 *
 * Held by tests/unit/daemon/test_learner_thread.c, also under ThreadSanitizer.
 */
#ifndef HEARSAY_DAEMON_LEARNER_THREAD_H
#define HEARSAY_DAEMON_LEARNER_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "executor/executor.h"
#include "training/batch_size.h"
#include "training/learner.h"

struct learner_thread_options {
    struct batch_size batch_size;    /* how many samples a step has */
    uint64_t samples_max;            /* train no more than so many samples; 0: no end */
    uint64_t step_ns_min;            /* from the begin of a step to the next, at least */
    uint32_t apply_window;           /* entries under way at most, see node.h */
    struct snapshot_queue *snapshot; /* where SAVE puts its parts; or NULL: there will be none */
    void (*wake)(void *waker);       /* called on the learner's thread when there are events */
    void *waker;                     /* passed to it */
};

enum learner_thread_event_kind {
    LEARNER_THREAD_STEPPED,  /* steps, samples, batch, loss_sum */
    LEARNER_THREAD_ANSWERED, /* answer */
    LEARNER_THREAD_RELAPSED, /* relapses: it diverged, and began anew */
    LEARNER_THREAD_EVALUATED /* evaluation */
};

struct learner_thread_event {
    enum learner_thread_event_kind kind;
    uint32_t steps;       /* since the last such event */
    uint64_t samples;     /* in those steps */
    uint32_t batch;       /* samples of the steps that follow; 0: always as many */
    double loss_sum;      /* of all those samples */
    struct answer answer; /* to an order; what it points to is good until the next such order */
    struct evaluation evaluation;
    struct learner_relapses relapses;
};

struct learner_thread;

/* What learner_thread_new takes from its arena. */
size_t learner_thread_arena_bytes(const struct learner_thread_options *options);

/* Starts the thread. The learner must not be touched again before learner_thread_stop. */
struct learner_thread *learner_thread_new(struct arena *arena, struct learner *learner,
                                          const struct learner_thread_options *options);

/* From the loop's thread. An order is copied, with all that it points to. */
void learner_thread_order(struct learner_thread *thread, const struct action *order);
void learner_thread_evaluate(struct learner_thread *thread);
bool learner_thread_next(struct learner_thread *thread, struct learner_thread_event *event);

/* End the thread after the step and the orders under way, and wait for it. */
void learner_thread_stop(struct learner_thread *thread);

/* Processor time of the thread, when it has ended. */
struct learner_thread_used {
    uint64_t steps_ns;    /* in local steps */
    uint64_t exchange_ns; /* in APPLY, PUBLISH, READ and WRITE */
};
struct learner_thread_used learner_thread_used(const struct learner_thread *thread);

#endif
