/* The hatch: the only place where two threads meet.
 *
 *   loop thread (node)  ── HEAR TRAIN TELL READ WRITE SAVE EVALUATE STOP ──►  learner thread
 *                       ◄─ STEPPED TOLD APPLIED READ SAVED EVALUATED ─────────
 *
 * The learner's thread makes steps for as long as it may train, and between two steps does what
 * was put through the hatch, in order. Nothing here ever waits for the network: a step waits for
 * at most the commands that are already there. The owner bounds what is under way (node.h:
 * apply_window), so the rings never overflow.
 */
#ifndef HEARSAY_DAEMON_LEARNER_THREAD_H
#define HEARSAY_DAEMON_LEARNER_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "training/learner.h"
#include "training/batch_size.h"

struct learner_thread_options {
    struct batch_size batch_size; /* how many samples a step has */
    uint64_t samples_max;         /* train no more than so many samples; 0: no end */
    uint32_t apply_window;        /* entries under way at most, see node.h */
    uint32_t read_max;            /* entries of one READ; one is under way at a time */
    void (*wake)(void *waker);    /* called on the learner's thread when there are events */
    void *waker;
};

enum learner_thread_event_kind {
    LEARNER_THREAD_STEPPED,
    LEARNER_THREAD_TOLD,
    LEARNER_THREAD_APPLIED, /* heard, or written */
    LEARNER_THREAD_READ,
    LEARNER_THREAD_SAVED,
    LEARNER_THREAD_EVALUATED
};

struct learner_thread_event {
    enum learner_thread_event_kind kind;
    uint32_t steps; /* STEPPED: since the last such event */
    uint64_t samples;
    uint32_t batch;              /* STEPPED: samples of the steps that follow; 0: always as many */
    double loss_sum;             /* of all samples */
    const struct update *update; /* TOLD: the learner's, until the next learner_thread_publish */
    uint32_t entries;            /* APPLIED */
    const int32_t *units;        /* READ: the hatch's, until the next learner_thread_read */
    struct evaluation evaluation;
};

struct learner_thread;

/* What learner_thread_new takes from its arena. */
size_t learner_thread_arena_bytes(const struct learner_thread_options *options);

/* Starts the learner's thread. The learner must not be touched again before learner_thread_stop. */
struct learner_thread *learner_thread_new(struct arena *arena, struct learner *learner,
                                          const struct learner_thread_options *options);

/* From the loop's thread: */
void learner_thread_apply(struct learner_thread *worker, const struct update *update,
                          bool own); /* copied */
void learner_thread_train(struct learner_thread *worker,
                          uint64_t swarm_samples); /* make steps (learner_follow) */
void learner_thread_read(struct learner_thread *worker, uint64_t first, uint32_t entries);
void learner_thread_write(struct learner_thread *worker, uint64_t first, uint32_t entries,
                          const int32_t *units, bool keep_weights); /* copied */
void learner_thread_save(struct learner_thread *worker,
                         struct learner_state *state); /* ours until SAVED */
void learner_thread_publish(struct learner_thread *worker, const struct publish_terms *terms,
                            bool last);
void learner_thread_evaluate(struct learner_thread *worker);
bool learner_thread_next(struct learner_thread *worker, struct learner_thread_event *event);

/* End the thread after the step and the commands under way, and wait for it. */
void learner_thread_stop(struct learner_thread *worker);

/* Processor time of the learner's thread, when it has ended. */
struct learner_thread_used {
    uint64_t steps_ns;
    uint64_t exchange_ns; /* HEAR, TELL, READ, WRITE */
};
struct learner_thread_used learner_thread_used(const struct learner_thread *worker);

#endif
