/* Passes messages between the event loop's thread and the stepping thread. They share no other
 * data, except for a READ.
 *
 *   loop thread (node)  ── orders (executor.h), evaluate, stop ──►  stepping thread
 *                       ◄── stepped, answered, reset, … ───────
 *
 * The stepping thread is the learner's own thread (learner_thread.h), or a thread of a host program
 * with its own model (library/). Between two steps it performs all queued orders, in sequence. A
 * step waits only for orders that the loop already has, and never for the network. The node bounds
 * the orders that wait for an answer (node.h, apply_window), so the rings never overflow.
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
    /* maximum number of entries that wait for an answer (node.h) */
    uint32_t apply_window;
    const struct executor_ops *ops;
    void *learner;                   /* first argument of the functions in `ops` */
    struct snapshot_queue *snapshot; /* receives the parts of a SAVE; NULL = no SAVE is ordered */
    /* Called for each new event, on either thread; the caller has locked `orders`. */
    void (*wake)(void *waker);
    void *waker;
};

enum learner_event_kind {
    LEARNER_STEPPED,   /* steps were made: sets the members from steps to spent, and memory */
    LEARNER_ANSWERED,  /* an order was performed: sets answer */
    LEARNER_RESET,     /* training diverged, and the learner was reset to the base: sets resets */
    LEARNER_SATURATED, /* the number of saturated entries has changed: sets saturation */
    LEARNER_EVALUATED, /* an evaluation has ended: sets evaluation, averaged, took_ns */
    LEARNER_LOOKED     /* answer to LEARNER_LOOK: sets vitals (training/vitals.h) */
};

struct learner_event {
    enum learner_event_kind kind;
    uint32_t steps;   /* steps since the last STEPPED event */
    uint64_t samples; /* samples learned since the last STEPPED event */
    uint32_t batch;   /* samples per step from now on; 0 = unchanged */
    double loss_sum;  /* sum of the loss over all samples counted in `samples` */
    bool is_over;     /* STEPPED: the learner has reached train.samples_max and steps no more */
    /* STEPPED: latest of these steps whose loss was NaN or too large to be summed; 0 = none, or not
     * checked */
    uint64_t broken_loss_step;
    struct time_spent spent;
    union {
        /* ANSWERED. Its pointers are valid until the learner performs the next order of this kind.
         */
        struct answer answer;
        struct {
            struct evaluation evaluation; /* EVALUATED: of the base */
            struct evaluation averaged;   /* of the averaged base; samples 0 = there is none */
        };
    };
    uint64_t took_ns; /* EVALUATED: duration of `evaluation` and `averaged` together */
    struct learner_resets resets;
    struct learner_saturation saturation;
    struct vitals vitals;
    /* STEPPED: measured once a second; total 0 = not measured now, or host memory */
    struct device_memory memory;
};

enum learner_request_kind {
    LEARNER_ORDER,
    LEARNER_EVALUATE,
    /* requests a LOOKED event; ignored if the learner cannot step or has learned nothing */
    LEARNER_LOOK,
    LEARNER_SLOW, /* halves the learning rate for the rest of the run */
    LEARNER_STOP
};

struct learner_request {
    enum learner_request_kind kind;
    struct action order[]; /* ORDER: one order, followed by the data that it points to */
};

struct learner_link {
    struct learner_link_options options;
    struct executor executor;
    struct ring requests;
    /* Events for the loop's thread; writers must hold the mutex `orders`. */
    struct ring events;
    _Atomic bool has_more; /* the node has further orders, for which `requests` has no space */
    /* Locked while a thread performs an order, so that a READ sees no half-changed base. */
    pthread_mutex_t orders;
    pthread_mutex_t mutex; /* protects the sleep of the stepping thread on `woken` */
    pthread_cond_t woken;
    uint32_t resets;    /* number of reported resets */
    uint64_t saturated; /* last reported number of saturated entries */
};

size_t learner_link_arena_bytes(uint32_t apply_window);
void learner_link_init(struct learner_link *link, struct arena *arena,
                       const struct learner_link_options *options);
/* No thread may be using the link. */
void learner_link_end(struct learner_link *link);

/* The loop's thread calls the following functions. learner_link_order queues a copy of an order
 * with its data. It performs a READ immediately if no other order is being performed. */
void learner_link_order(struct learner_link *link, const struct action *order);
void learner_link_ask(struct learner_link *link, enum learner_request_kind kind);
bool learner_link_next(struct learner_link *link, struct learner_event *event);
/* Sets whether the loop has further orders for which the queue has no space. While it has some, the
 * stepping thread makes no step. */
void learner_link_set_more(struct learner_link *link, bool has_more);

/* The stepping thread calls the following functions. */

/* Returns the oldest request, valid until learner_link_done; NULL if there is none. If the queue is
 * empty while the loop has further orders, waits for one. Otherwise a node that receives more per
 * step than the queue holds would fall behind without bound. */
const struct learner_request *learner_link_peek(struct learner_link *link);
void learner_link_done(struct learner_link *link);
/* Performs an order, and reports its answer unless it is TRAIN. Returns the processor time that the
 * order took, in nanoseconds. */
uint64_t learner_link_perform(struct learner_link *link, const struct action *order);
void learner_link_say(struct learner_link *link, const struct learner_event *event);
/* Reports steps, if the ring then still has enough space for other events. Otherwise returns false;
 * the caller adds later steps to the report and tries again. */
bool learner_link_say_progress(struct learner_link *link, const struct learner_event *progress);
/* Reports that training has diverged, if `resets` counts more resets than were reported. */
void learner_link_report_reset(struct learner_link *link, const struct learner_resets *resets);
/* Does nothing if the number of saturated entries is unchanged. */
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
