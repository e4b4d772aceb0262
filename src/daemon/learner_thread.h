/* The learner's thread: makes steps, and performs the node's orders between them.
 *
 *   loop thread (node)  ◄── learner_link.h ──►  learner thread
 *
 * It makes steps while the node permits training. With step_ns_min it sleeps until the next step is
 * due, but orders wake it.
 *
 * Tests: tests/unit/daemon/test_learner_thread.c, also under ThreadSanitizer.
 */
#ifndef HEARSAY_DAEMON_LEARNER_THREAD_H
#define HEARSAY_DAEMON_LEARNER_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/learner_link.h"
#include "training/batch_size.h"
#include "training/learner.h"

struct learner_thread_options {
    struct batch_size batch_size; /* chooses the number of samples per step */
    uint64_t samples_max;         /* training ends at this number of samples; 0 = no limit */
    uint64_t step_ns_min;  /* minimum nanoseconds between the starts of two steps; 0 = no limit */
    uint32_t apply_window; /* see learner_link.h */
    struct snapshot_queue *snapshot; /* receives the parts of a SAVE; NULL = no SAVE is ordered */
    /* called for each new event, on the learner's or the loop's thread */
    void (*wake)(void *waker);
    void *waker;
};

struct learner_thread;

size_t learner_thread_arena_bytes(const struct learner_thread_options *options);

/* Starts the thread, which owns the learner until learner_thread_stop. */
struct learner_thread *learner_thread_new(struct arena *arena, struct learner *learner,
                                          const struct learner_thread_options *options);

/* Returns the link to the thread, for the event loop. */
struct learner_link *learner_thread_link(struct learner_thread *thread);

/* Ends the thread after its present step and all queued orders, and joins it. */
void learner_thread_stop(struct learner_thread *thread);

/* Processor time of the thread; read it after the thread has ended. */
struct learner_thread_used {
    uint64_t steps_ns;
    uint64_t exchange_ns; /* nanoseconds in the orders APPLY, TRIAL, PUBLISH, READ and WRITE */
};
struct learner_thread_used learner_thread_used(const struct learner_thread *thread);

/* Returns the time at which the present step or order began; 0 = neither is under way. Any thread
 * may call it. */
uint64_t learner_thread_working_ns(const struct learner_thread *thread);

#endif
