/* The learner's thread.
 *
 *   loop thread (node)  ◄── learner_link.h ──►  learner thread
 *
 * It makes steps while it may train, and between two steps performs its orders in sequence. With
 * step_ns_min it sleeps until its next step is due, and orders wake it.
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
    struct batch_size batch_size;    /* choice of the number of samples per step */
    uint64_t samples_max;            /* samples to train; 0 = unlimited */
    uint64_t step_ns_min;            /* shortest time between the starts of two steps */
    uint32_t apply_window;           /* most entries under way, see node.h */
    struct snapshot_queue *snapshot; /* receives the parts of a SAVE; NULL = there is no SAVE */
    void (*wake)(void *waker);       /* called on the learner's thread when there are events */
    void *waker;                     /* argument of wake */
};

struct learner_thread;

/* Returns the arena bytes that learner_thread_new takes. */
size_t learner_thread_arena_bytes(const struct learner_thread_options *options);

/* Starts the thread. The caller must not use the learner again before learner_thread_stop. */
struct learner_thread *learner_thread_new(struct arena *arena, struct learner *learner,
                                          const struct learner_thread_options *options);

/* Returns the thread's link, for the loop's side. */
struct learner_link *learner_thread_link(struct learner_thread *thread);

/* Ends the thread after the step and the orders under way, and waits for its end. */
void learner_thread_stop(struct learner_thread *thread);

/* Processor time of the thread after its end. */
struct learner_thread_used {
    uint64_t steps_ns;    /* nanoseconds in local steps */
    uint64_t exchange_ns; /* nanoseconds in APPLY, PUBLISH, READ and WRITE */
};
struct learner_thread_used learner_thread_used(const struct learner_thread *thread);

/* Returns when the step or order began on which the thread works; 0 = none. Any thread may call
 * it. */
uint64_t learner_thread_working_ns(const struct learner_thread *thread);

#endif
