/* The learner's thread.
 *
 *   loop thread (node)  ◄── learner_link.h ──►  learner thread
 *
 * It makes steps for as long as it may train, and between two steps does what it was ordered, in
 * order. With step_ns_min it sleeps until its next step is due, and orders wake it.
 *
 * Held by tests/unit/daemon/test_learner_thread.c, also under ThreadSanitizer.
 */
#ifndef HEARSAY_DAEMON_LEARNER_THREAD_H
#define HEARSAY_DAEMON_LEARNER_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/learner_link.h"
#include "training/batch_size.h"
#include "training/learner.h"

struct learner_thread_options {
    struct batch_size batch_size;    /* how many samples a step has */
    uint64_t samples_max;            /* samples to train; 0 = unlimited */
    uint64_t step_ns_min;            /* from the begin of a step to the next, at least */
    uint32_t apply_window;           /* entries under way at most, see node.h */
    struct snapshot_queue *snapshot; /* where SAVE puts its parts; or NULL: there will be none */
    void (*wake)(void *waker);       /* called on the learner's thread when there are events */
    void *waker;                     /* passed to it */
};

struct learner_thread;

/* Returns the arena bytes that learner_thread_new takes. */
size_t learner_thread_arena_bytes(const struct learner_thread_options *options);

/* Starts the thread. The learner must not be touched again before learner_thread_stop. */
struct learner_thread *learner_thread_new(struct arena *arena, struct learner *learner,
                                          const struct learner_thread_options *options);

/* Its link, for the loop's side. */
struct learner_link *learner_thread_link(struct learner_thread *thread);

/* End the thread after the step and the orders under way, and wait for it. */
void learner_thread_stop(struct learner_thread *thread);

/* Processor time of the thread, when it has ended. */
struct learner_thread_used {
    uint64_t steps_ns;    /* in local steps */
    uint64_t exchange_ns; /* in APPLY, PUBLISH, READ and WRITE */
};
struct learner_thread_used learner_thread_used(const struct learner_thread *thread);

/* When the step or order began on which the thread works; 0 = there is none. From any thread. */
uint64_t learner_thread_working_ns(const struct learner_thread *thread);

#endif
