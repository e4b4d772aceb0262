/* Messages between the loop's thread and the stepping thread, the only place where they meet.
 *
 *   loop thread (node)  ── orders (executor.h), evaluate, stop ──►  thread that steps
 *                       ◄── stepped, answered, reset, … ───────
 *
 * The thread that steps is the learner's own (learner_thread.h), or that of a program that brings
 * its own model (library/). Between two steps it performs what it was ordered, in order. Nothing
 * here ever waits for the network: a step waits for at most the orders that are already there, all
 * of them. The node bounds what is under way (node.h, apply_window), so the rings never overflow.
 *
 * A step leaves the base alone. So a READ that comes during one is performed at once on the loop's
 * thread: a large model's base is served as fast as a link takes it, however long a step. Whoever
 * performs an order holds the mutex of orders from before it until it is answered; the loop's
 * thread never waits for it, but leaves the READ to the other.
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
    uint32_t apply_window;           /* entries under way at most, see node.h */
    const struct executor_ops *ops;  /* how the learner is talked to */
    void *learner;                   /* passed to them */
    struct snapshot_queue *snapshot; /* where SAVE puts its parts; or NULL: there will be none */
    void (*wake)(void *waker);       /* called when there are events, with the mutex of orders */
    void *waker;                     /* passed to it */
};

enum learner_event_kind {
    LEARNER_STEPPED,   /* steps, samples, batch, loss_sum, spent */
    LEARNER_ANSWERED,  /* answer */
    LEARNER_RELAPSED,  /* relapses: it diverged, and was reset to the base */
    LEARNER_SATURATED, /* saturation: other entries than before are saturated */
    LEARNER_EVALUATED, /* evaluation, averaged, took_ns */
    LEARNER_LOOKED     /* vitals */
};

struct learner_event {
    enum learner_event_kind kind;
    uint32_t steps;          /* since the last such event */
    uint64_t samples;        /* in those steps */
    uint32_t batch;          /* samples of the following steps; 0 = unchanged */
    double loss_sum;         /* of all those samples */
    struct time_spent spent; /* since the last such event */
    struct answer answer;    /* to an order; what it points to is good until the next such order */
    struct evaluation evaluation;
    struct evaluation averaged; /* of the averaged base; samples 0: there is none */
    uint64_t took_ns;           /* of both evaluations */
    struct learner_relapses relapses;
    struct learner_saturation saturation;
    struct vitals vitals;
    struct device_memory
        memory; /* STEPPED: of the device, once a second; total 0 = not looked at */
};

enum learner_request_kind {
    LEARNER_ORDER,
    LEARNER_EVALUATE,
    LEARNER_LOOK, /* is answered by LOOKED, if there was a step */
    LEARNER_SLOW, /* halves the learning rate until the end */
    LEARNER_STOP
};

struct learner_request {
    enum learner_request_kind kind;
    struct action order[]; /* ORDER: one, and what it points to */
};

struct learner_link {
    struct learner_link_options options;
    struct executor executor; /* performs the orders */
    struct ring requests;     /* from the loop's thread */
    struct ring events;       /* to it: put by whoever holds the mutex of orders */
    _Atomic bool has_more;    /* the loop's thread: it has orders for which there was no room */
    pthread_mutex_t orders;   /* of the base, between its changes and its readers */
    pthread_mutex_t mutex;    /* only for falling asleep and waking up */
    pthread_cond_t woken;
    uint32_t relapses;  /* of the learner, that were said */
    uint64_t saturated; /* entries that were reported as saturated last */
};

/* Returns the arena bytes that learner_link_init takes. */
size_t learner_link_arena_bytes(uint32_t apply_window);
void learner_link_init(struct learner_link *link, struct arena *arena,
                       const struct learner_link_options *options);
/* Nobody uses it any more. */
void learner_link_end(struct learner_link *link);

/* The loop's side. An order is copied, with all that it points to. */
void learner_link_order(struct learner_link *link, const struct action *order);
void learner_link_ask(struct learner_link *link, enum learner_request_kind kind);
bool learner_link_next(struct learner_link *link, struct learner_event *event);
/* Are there orders for which there was no room? They come as soon as answers have been taken, and
 * the side that steps waits for them. */
void learner_link_set_more(struct learner_link *link, bool has_more);

/* The side that steps. */

/* The oldest request, or NULL; valid until learner_link_done. If the loop has orders that did not
 * fit, waits for them first. Otherwise a step would come between, and a node that receives more per
 * step than the ring holds would fall further and further behind. */
const struct learner_request *learner_link_peek(struct learner_link *link);
void learner_link_done(struct learner_link *link);
/* Performs an order and answers it; but TRAIN, which has no answer. Returns the nanoseconds of
 * processor time that it took. */
uint64_t learner_link_perform(struct learner_link *link, const struct action *order);
void learner_link_say(struct learner_link *link, const struct learner_event *event);
/* Says that steps were made, if there is room: progress can wait and add up while the loop is busy,
 * and the rest of the room is for the other events, of which a bounded number is under way. */
bool learner_link_say_progress(struct learner_link *link, const struct learner_event *progress);
/* After a publication: it may have found that training diverged. */
void learner_link_say_relapse(struct learner_link *link, const struct learner_relapses *relapses);
/* After a publication: other entries may be saturated than after the one before. */
void learner_link_say_saturation(struct learner_link *link,
                                 const struct learner_saturation *saturation);
/* Sleeps until there is a request, or is_over, or it is due_ns on the monotonic clock; UINT64_MAX:
 * never. The thread that sets is_over then calls learner_link_nudge. */
void learner_link_sleep(struct learner_link *link, uint64_t due_ns, bool (*is_over)(void *context),
                        void *context);

/* Any thread's: whoever sleeps looks again. */
void learner_link_nudge(struct learner_link *link);

uint64_t learner_link_now_ns(void); /* the monotonic clock */

#endif
