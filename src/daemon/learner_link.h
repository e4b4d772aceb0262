/* Messages between the loop's thread and the stepping thread, the only place where they meet.
 *
 *   loop thread (node)  ── orders (executor.h), evaluate, stop ──►  thread that steps
 *                       ◄── stepped, answered, reset, … ───────
 *
 * The thread that steps is the learner's own (learner_thread.h), or that of a program with its own
 * model (library/). Between two steps it performs all queued orders, in order. No thread here ever
 * waits for the network: a step waits only for the orders that are already queued. The node bounds
 * the orders under way (node.h, apply_window), so the rings never overflow.
 *
 * A step does not change the base. So the loop's thread performs a READ that comes during a step at
 * once: a large model's base is served as fast as a link carries it, however long a step is. A
 * thread holds the mutex `orders` from before it performs an order until it has answered. The
 * loop's thread never waits for the mutex; if it is taken, the other thread performs the READ.
 *
 * Held by tests/unit/daemon/test_learner_link.c and tests/unit/daemon/test_learner_thread.c, also
 * under ThreadSanitizer.
 */
#ifndef HEARSAY_DAEMON_LEARNER_LINK_H
#define HEARSAY_DAEMON_LEARNER_LINK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/ring.h"
#include "daemon/time_spent.h"
#include "executor/executor.h"
#include "training/vitals.h"

struct learner_link_options {
    uint32_t apply_window;           /* most entries under way, see node.h */
    const struct executor_ops *ops;  /* operations of the learner */
    void *learner;                   /* first argument of these operations */
    struct snapshot_queue *snapshot; /* receives the parts of a SAVE; NULL = there is no SAVE */
    /* Called when there are events, while the mutex `orders` is held. */
    void (*wake)(void *waker);
    void *waker; /* argument of wake */
};

enum learner_event_kind {
    LEARNER_STEPPED,   /* steps, samples, batch, loss_sum, spent */
    LEARNER_ANSWERED,  /* answer */
    LEARNER_RESET,     /* resets: training diverged, and the learner was reset to the base */
    LEARNER_SATURATED, /* saturation: the saturated entries have changed */
    LEARNER_EVALUATED, /* evaluation, averaged, took_ns */
    LEARNER_LOOKED     /* vitals */
};

struct learner_event {
    enum learner_event_kind kind;
    uint32_t steps;          /* steps since the last STEPPED event */
    uint64_t samples;        /* samples in those steps */
    uint32_t batch;          /* samples of the following steps; 0 = unchanged */
    double loss_sum;         /* sum of the loss over those samples */
    struct time_spent spent; /* time spent since the last STEPPED event */
    /* Answer to an order; its pointers are valid until the next such order. */
    struct answer answer;
    struct evaluation evaluation;
    struct evaluation averaged; /* evaluation of the averaged base; samples 0 = there is none */
    uint64_t took_ns;           /* duration of both evaluations */
    struct learner_resets resets;
    struct learner_saturation saturation;
    struct vitals vitals;
    struct device_memory
        memory; /* STEPPED: memory of the device, once a second; total 0 = not measured */
};

enum learner_request_kind {
    LEARNER_ORDER,
    LEARNER_EVALUATE,
    LEARNER_LOOK, /* requests LOOKED, if there was a step */
    LEARNER_SLOW, /* halves the learning rate until the end */
    LEARNER_STOP
};

struct learner_request {
    enum learner_request_kind kind;
    struct action order[]; /* ORDER: one order with the data that it points to */
};

struct learner_link {
    struct learner_link_options options;
    struct executor executor; /* performs the orders */
    struct ring requests;     /* requests from the loop's thread */
    /* Events to the loop's thread; written while holding the mutex `orders`. */
    struct ring events;
    _Atomic bool has_more;  /* the loop's thread has orders that did not fit the ring */
    pthread_mutex_t orders; /* protects the base between its changes and its readers */
    pthread_mutex_t mutex;  /* used only to sleep and wake up */
    pthread_cond_t woken;
    uint32_t resets;    /* resets of the learner that were reported */
    uint64_t saturated; /* entries that were reported as saturated last */
};

/* Returns the arena bytes that learner_link_init takes. */
size_t learner_link_arena_bytes(uint32_t apply_window);
void learner_link_init(struct learner_link *link, struct arena *arena,
                       const struct learner_link_options *options);
/* Destroys the link; no thread may use it any more. */
void learner_link_end(struct learner_link *link);

/* Functions for the loop's thread. This one copies an order with all data that it points to. */
void learner_link_order(struct learner_link *link, const struct action *order);
void learner_link_ask(struct learner_link *link, enum learner_request_kind kind);
bool learner_link_next(struct learner_link *link, struct learner_event *event);
/* Records whether there are orders that did not fit. They follow as soon as answers have been read,
 * and the stepping thread waits for them. */
void learner_link_set_more(struct learner_link *link, bool has_more);

/* Functions for the thread that steps. */

/* Returns the oldest request, or NULL; valid until learner_link_done. If the loop has orders that
 * did not fit, waits for them first. Otherwise a step would come between, and a node that receives
 * more per step than the ring holds would fall further and further behind. */
const struct learner_request *learner_link_peek(struct learner_link *link);
void learner_link_done(struct learner_link *link);
/* Performs an order and answers it, except TRAIN, which has no answer. Returns the processor time
 * that it took, in nanoseconds. */
uint64_t learner_link_perform(struct learner_link *link, const struct action *order);
void learner_link_say(struct learner_link *link, const struct learner_event *event);
/* Reports steps if the ring has space; returns false otherwise. Progress can wait and add up while
 * the loop is busy. The rest of the space is for other events, of which a bounded number is under
 * way. */
bool learner_link_say_progress(struct learner_link *link, const struct learner_event *progress);
/* Reports a new divergence of training, which a publication may have found. */
void learner_link_report_reset(struct learner_link *link, const struct learner_resets *resets);
/* Reports saturated entries if they have changed since the last publication. */
void learner_link_say_saturation(struct learner_link *link,
                                 const struct learner_saturation *saturation);
/* Sleeps until there is a request, is_over returns true, or the monotonic clock reaches due_ns
 * (UINT64_MAX = never). A thread that makes is_over true then calls learner_link_nudge. */
void learner_link_sleep(struct learner_link *link, uint64_t due_ns, bool (*is_over)(void *context),
                        void *context);

/* Makes the sleeping thread check its conditions again; any thread may call it. */
void learner_link_nudge(struct learner_link *link);

uint64_t learner_link_now_ns(void); /* time of the monotonic clock */

#endif
