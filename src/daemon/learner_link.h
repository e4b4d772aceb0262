/* Passes messages between the loop's thread and the stepping thread. They share no other data.
 *
 *   loop thread (node)  ── orders (executor.h), evaluate, stop ──►  stepping thread
 *                       ◄── stepped, answered, reset, … ───────
 *
 * The stepping thread is the learner's own thread (learner_thread.h), or a thread of a host program
 * with its own model (library/). Between two steps it performs all queued orders, in sequence. A
 * step waits only for orders that are already queued, and never for the network. The node bounds
 * the orders under way (node.h, apply_window), so the rings never overflow.
 *
 * A step does not change the base. So the loop's thread itself performs a READ that is requested
 * during a step. This serves the base of a large model at the speed of the link, however long a
 * step takes. A thread holds the mutex `orders` while it performs an order and writes the answer.
 * The loop's thread does not wait for an order: if the mutex is locked, it queues the READ.
 *
 * Tests: tests/unit/daemon/test_learner_link.c and tests/unit/daemon/test_learner_thread.c, also
 * under ThreadSanitizer.
 */
#ifndef HEARSAY_DAEMON_LEARNER_LINK_H
#define HEARSAY_DAEMON_LEARNER_LINK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/ring.h"
#include "base/system_clock.h"
#include "daemon/time_spent.h"
#include "executor/executor.h"
#include "training/vitals.h"

struct learner_link_options {
    /* Maximum number of entries in the queued updates (node.h). */
    uint32_t apply_window;
    const struct executor_ops *ops;  /* operations of the learner */
    void *learner;                   /* first argument of the operations in `ops` */
    struct snapshot_queue *snapshot; /* receives the parts of a SAVE; NULL = no SAVE is ordered */
    /* Called when there are new events for the loop; the caller has locked `orders`. */
    void (*wake)(void *waker);
    void *waker; /* argument of wake */
};

enum learner_event_kind {
    LEARNER_STEPPED,   /* steps were made: sets steps, samples, batch, loss_sum, spent */
    LEARNER_ANSWERED,  /* an order was performed: sets answer */
    LEARNER_RESET,     /* training diverged, and the learner was reset to the base: sets resets */
    LEARNER_SATURATED, /* the number of saturated entries has changed: sets saturation */
    LEARNER_EVALUATED, /* an evaluation has ended: sets evaluation, averaged, took_ns */
    LEARNER_LOOKED     /* answer to LEARNER_LOOK: sets vitals (training/vitals.h) */
};

struct learner_event {
    enum learner_event_kind kind;
    uint32_t steps;          /* steps since the last STEPPED event */
    uint64_t samples;        /* samples learned since the last STEPPED event */
    uint32_t batch;          /* samples per step from now on; 0 = unchanged */
    double loss_sum;         /* sum of the loss over all samples counted in `samples` */
    struct time_spent spent; /* time spent since the last STEPPED event */
    /* Answer to an order. Its pointers are valid until the learner performs the next order of
     * this kind. */
    struct answer answer;
    struct evaluation evaluation;
    /* Evaluation of the averaged base; samples 0 = there is no such base. */
    struct evaluation averaged;
    uint64_t took_ns; /* EVALUATED: duration of both evaluations together */
    struct learner_resets resets;
    struct learner_saturation saturation;
    struct vitals vitals;
    /* STEPPED: memory of the device, measured once a second; total 0 = not measured. */
    struct device_memory memory;
};

enum learner_request_kind {
    LEARNER_ORDER,
    LEARNER_EVALUATE,
    LEARNER_LOOK, /* requests a LOOKED event; ignored before the learner's first step */
    LEARNER_SLOW, /* halves the learning rate for the rest of the run */
    LEARNER_STOP
};

struct learner_request {
    enum learner_request_kind kind;
    struct action order[]; /* ORDER: one order, followed by the data that it points to */
};

struct learner_link {
    struct learner_link_options options;
    struct executor executor; /* performs the orders */
    struct ring requests;     /* requests for the stepping thread */
    /* Events for the loop's thread. Writers must hold the mutex `orders`. */
    struct ring events;
    _Atomic bool has_more; /* the loop's thread has further orders that did not fit the ring */
    /* Locked while a thread performs an order, so that a READ sees no half-changed base. */
    pthread_mutex_t orders;
    pthread_mutex_t mutex; /* used only to let the stepping thread sleep and to wake it */
    pthread_cond_t woken;
    uint32_t resets;    /* number of resets that were reported to the loop */
    uint64_t saturated; /* number of saturated entries in the last report */
};

/* Returns the bytes that learner_link_init allocates in its arena. */
size_t learner_link_arena_bytes(uint32_t apply_window);
void learner_link_init(struct learner_link *link, struct arena *arena,
                       const struct learner_link_options *options);
/* Destroys the link; no thread may be using it. */
void learner_link_end(struct learner_link *link);

/* Functions that the loop's thread calls. learner_link_order queues a copy of an order with its
 * data; it performs a READ immediately if no other order is being performed. */
void learner_link_order(struct learner_link *link, const struct action *order);
void learner_link_ask(struct learner_link *link, enum learner_request_kind kind);
bool learner_link_next(struct learner_link *link, struct learner_event *event);
/* Sets whether the loop has further orders for which the queue has no space. While it has some,
 * the stepping thread makes no step, until the loop has queued them. */
void learner_link_set_more(struct learner_link *link, bool has_more);

/* The functions below are called by the stepping thread. */

/* Returns the oldest request, valid until learner_link_done; NULL if there is none. If the loop
 * has orders that did not fit the ring, waits for them first. If it did not wait, the thread would
 * make a step before them, and a node that receives more per step than fits the ring would fall
 * behind without bound. */
const struct learner_request *learner_link_peek(struct learner_link *link);
void learner_link_done(struct learner_link *link);
/* Performs an order, and writes its answer unless it is TRAIN. Returns the processor time that it
 * took, in nanoseconds. */
uint64_t learner_link_perform(struct learner_link *link, const struct action *order);
void learner_link_say(struct learner_link *link, const struct learner_event *event);
/* Reports steps and returns true if enough space in the ring remains for other events. Otherwise
 * returns false; the caller adds later steps to the report and tries again. */
bool learner_link_say_progress(struct learner_link *link, const struct learner_event *progress);
/* Reports that training has diverged, if `resets` counts more resets than were reported. */
void learner_link_report_reset(struct learner_link *link, const struct learner_resets *resets);
/* Reports the number of saturated entries if it has changed since the last report. */
void learner_link_say_saturation(struct learner_link *link,
                                 const struct learner_saturation *saturation);
/* Sleeps until there is a request, is_over returns true, or the monotonic clock reaches due_ns
 * (UINT64_MAX = never). A thread that changes the result of is_over must then call
 * learner_link_nudge. */
void learner_link_sleep(struct learner_link *link, uint64_t due_ns, bool (*is_over)(void *context),
                        void *context);

/* Makes the sleeping thread check its conditions again; any thread may call it. */
void learner_link_nudge(struct learner_link *link);

#endif
