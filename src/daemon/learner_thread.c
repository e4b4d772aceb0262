#include "daemon/learner_thread.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

#include "base/error.h"
#include "base/ring.h"
#include "base/thread.h"

#define EVENT_RING_BYTES (256 * 1024)
#define OTHER_EVENTS     512      /* that must still fit when progress is said */
#define PROGRESS_NS      20000000 /* STEPPED is said no more often than this */

enum request_kind { REQUEST_ORDER, REQUEST_EVALUATE, REQUEST_STOP };

struct request {
    enum request_kind kind;
    struct action order[]; /* ORDER: one, and what it points to */
};

struct learner_thread {
    struct learner *learner;
    struct learner_thread_options options;
    struct executor executor; /* performs the orders */
    struct ring requests;     /* from the loop's thread */
    struct ring events;       /* to it: put by whoever holds the mutex of orders */
    pthread_mutex_t orders;   /* of the base, between its changes and its readers */
    pthread_t pthread;
    pthread_mutex_t mutex; /* only for falling asleep and waking up */
    pthread_cond_t woken;

    /* The learner thread's own. */
    bool is_training;
    bool is_stopped;
    struct batch_size batch_size;
    struct learner_thread_event progress; /* STEPPED, not yet said */
    uint32_t relapses;                    /* of the learner, that were said */
    uint64_t said_ns;                     /* when that was said last */
    uint64_t due_ns;                      /* the next step begins no sooner */
    struct learner_thread_used used;
};

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    (void)clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t now_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

static uint64_t thread_ns(void)
{
    return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static void lock(struct learner_thread *thread)
{
    CHECK(pthread_mutex_lock(&thread->orders) == 0);
}

static void unlock(struct learner_thread *thread)
{
    CHECK(pthread_mutex_unlock(&thread->orders) == 0);
}

/* Either thread, with the mutex of orders. */
static void say(struct learner_thread *thread, const struct learner_thread_event *event)
{
    struct learner_thread_event *room = ring_room(&thread->events, sizeof *event);
    CHECK(room);
    *room = *event;
    ring_put(&thread->events, sizeof *event);
    thread->options.wake(thread->options.waker);
}

static void say_answer(struct learner_thread *thread, const struct answer *answer)
{
    say(thread, &(struct learner_thread_event){.kind = LEARNER_THREAD_ANSWERED, .answer = *answer});
}

/* The learner's thread. */

/* Progress can wait and add up while the loop is busy; the rest of the ring is for the other
 * events, of which a bounded number is under way. */
static void say_progress(struct learner_thread *thread)
{
    if (thread->progress.steps == 0)
        return;
    thread->progress.loss_sum += learner_losses(thread->learner); /* it may wait for a GPU */
    lock(thread);
    if (ring_room(&thread->events, OTHER_EVENTS * sizeof(struct learner_thread_event))) {
        say(thread, &thread->progress);
        thread->progress = (struct learner_thread_event){.kind = LEARNER_THREAD_STEPPED};
        thread->said_ns = now_ns();
    }
    unlock(thread);
}

/* With the mutex of orders, after a publication: it may have found that training diverged. */
static void say_relapse(struct learner_thread *thread)
{
    const struct learner_relapses *relapses = learner_relapses(thread->learner);
    if (relapses->count == thread->relapses)
        return;
    thread->relapses = relapses->count;
    say(thread,
        &(struct learner_thread_event){.kind = LEARNER_THREAD_RELAPSED, .relapses = *relapses});
}

static void perform(struct learner_thread *thread, const struct action *order)
{
    if (order->kind == ACTION_PUBLISH && order->last)
        thread->is_training = false;
    if (order->kind == ACTION_PUBLISH)
        say_progress(thread); /* rumors say how many samples are behind them */
    lock(thread);
    const uint64_t from_ns = thread_ns();
    const struct answer answer = executor_perform(&thread->executor, order);
    if (order->kind != ACTION_TRAIN && order->kind != ACTION_SAVE)
        thread->used.exchange_ns += thread_ns() - from_ns;
    if (order->kind == ACTION_TRAIN)
        thread->is_training = learner_can_step(thread->learner);
    else
        say_answer(thread, &answer);
    if (order->kind == ACTION_PUBLISH)
        say_relapse(thread);
    unlock(thread);
}

/* An evaluation takes long on a large model, and leaves the base alone. */
static void evaluate(struct learner_thread *thread)
{
    const struct learner_thread_event evaluated = {
        .kind = LEARNER_THREAD_EVALUATED, .evaluation = learner_evaluate(thread->learner, false)};
    lock(thread);
    say(thread, &evaluated);
    unlock(thread);
}

static void do_request(struct learner_thread *thread, const struct request *request)
{
    switch (request->kind) {
    case REQUEST_ORDER:
        perform(thread, request->order);
        break;
    case REQUEST_EVALUATE:
        evaluate(thread);
        break;
    case REQUEST_STOP:
        thread->is_stopped = true;
        break;
    }
    ring_done(&thread->requests);
}

/* How many samples the next step has follows from how long this one took. */
static uint32_t sized_step(struct learner_thread *thread)
{
    const uint64_t from_ns = now_ns();
    const uint32_t samples = learner_step(thread->learner);
    const uint32_t batch = batch_size_on_step(&thread->batch_size, samples, now_ns() - from_ns);
    if (batch != samples)
        learner_set_batch(thread->learner, batch);
    return samples;
}

static void do_step(struct learner_thread *thread)
{
    const uint64_t from_ns = thread_ns();
    thread->due_ns = now_ns() + thread->options.step_ns_min;
    const uint32_t samples = sized_step(thread);
    thread->used.steps_ns += thread_ns() - from_ns;
    thread->progress.steps++;
    thread->progress.samples += samples;
    thread->progress.batch = thread->batch_size.step_ns > 0 ? learner_batch(thread->learner) : 0;
    const uint64_t most = thread->options.samples_max;
    if (most && learner_samples(thread->learner) >= most)
        thread->is_training = false;
    if (!thread->is_training || now_ns() - thread->said_ns >= PROGRESS_NS)
        say_progress(thread);
}

static bool is_step_due(const struct learner_thread *thread)
{
    return thread->is_training && now_ns() >= thread->due_ns;
}

/* Until there is a request, or a step is due. */
static void sleep_until_woken(struct learner_thread *thread)
{
    const struct timespec due = {.tv_sec = (time_t)(thread->due_ns / 1000000000u),
                                 .tv_nsec = (long)(thread->due_ns % 1000000000u)};
    CHECK(pthread_mutex_lock(&thread->mutex) == 0);
    while (!ring_peek(&thread->requests) && !is_step_due(thread)) {
        const int error = thread->is_training
                              ? pthread_cond_timedwait(&thread->woken, &thread->mutex, &due)
                              : pthread_cond_wait(&thread->woken, &thread->mutex);
        CHECK(error == 0 || error == ETIMEDOUT);
    }
    CHECK(pthread_mutex_unlock(&thread->mutex) == 0);
}

static void *run(void *argument)
{
    struct learner_thread *thread = argument;
    while (!thread->is_stopped) {
        const struct request *request = ring_peek(&thread->requests);
        if (request)
            do_request(thread, request);
        else if (is_step_due(thread))
            do_step(thread);
        else
            sleep_until_woken(thread);
    }
    return NULL;
}

/* The loop's thread. */

/* A condition that is waited for by the clock that steps are timed with. */
static void condition_init(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    CHECK(pthread_condattr_init(&attributes) == 0);
    CHECK(pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0);
    CHECK(pthread_cond_init(condition, &attributes) == 0);
    CHECK(pthread_condattr_destroy(&attributes) == 0);
}

/* Twice what may be under way (a record must fit one half), and room for the small ones. */
static uint64_t request_ring_bytes(const struct learner_thread_options *options)
{
    return (uint64_t)options->apply_window * 10 + 1024 * 1024;
}

size_t learner_thread_arena_bytes(const struct learner_thread_options *options)
{
    return sizeof(struct learner_thread) + 2 * request_ring_bytes(options) + EVENT_RING_BYTES +
           NODE_READ_MAX * sizeof(int32_t) + 4096;
}

struct learner_thread *learner_thread_new(struct arena *arena, struct learner *learner,
                                          const struct learner_thread_options *options)
{
    CHECK(learner && options->wake);
    struct learner_thread *thread = arena_take(arena, 1, sizeof *thread);
    thread->learner = learner;
    thread->options = *options;
    thread->batch_size = options->batch_size;
    thread->progress.kind = LEARNER_THREAD_STEPPED;
    thread->executor = (struct executor){.ops = &executor_learner_ops,
                                         .learner = learner,
                                         .units = arena_take(arena, NODE_READ_MAX, sizeof(int32_t)),
                                         .snapshot = options->snapshot};
    ring_init(&thread->requests, arena, request_ring_bytes(options));
    ring_init(&thread->events, arena, EVENT_RING_BYTES);
    CHECK(pthread_mutex_init(&thread->orders, NULL) == 0);
    CHECK(pthread_mutex_init(&thread->mutex, NULL) == 0);
    condition_init(&thread->woken);
    thread_begin(&thread->pthread, run, thread);
    return thread;
}

/* Puts a request into the ring, with an order or without, and wakes the thread. */
static void put(struct learner_thread *thread, enum request_kind kind, const struct action *order)
{
    const size_t bytes = sizeof(struct request) + (order ? order_bytes(order) : 0);
    CHECK(bytes <= UINT32_MAX);
    struct request *request = ring_room(&thread->requests, (uint32_t)bytes);
    CHECK(request);
    request->kind = kind;
    if (order)
        (void)order_copy(request->order, order);
    ring_put(&thread->requests, (uint32_t)bytes);
    CHECK(pthread_mutex_lock(&thread->mutex) == 0);
    CHECK(pthread_cond_signal(&thread->woken) == 0);
    CHECK(pthread_mutex_unlock(&thread->mutex) == 0);
}

/* False: another order is being performed. */
static bool read_now(struct learner_thread *thread, const struct action *order)
{
    if (pthread_mutex_trylock(&thread->orders) != 0)
        return false;
    const struct answer answer = executor_perform(&thread->executor, order);
    say_answer(thread, &answer);
    unlock(thread);
    return true;
}

void learner_thread_order(struct learner_thread *thread, const struct action *order)
{
    if (order->kind != ACTION_READ || !read_now(thread, order))
        put(thread, REQUEST_ORDER, order);
}

void learner_thread_evaluate(struct learner_thread *thread)
{
    put(thread, REQUEST_EVALUATE, NULL);
}

bool learner_thread_next(struct learner_thread *thread, struct learner_thread_event *event)
{
    const struct learner_thread_event *oldest = ring_peek(&thread->events);
    if (!oldest)
        return false;
    *event = *oldest;
    ring_done(&thread->events);
    return true;
}

void learner_thread_stop(struct learner_thread *thread)
{
    put(thread, REQUEST_STOP, NULL);
    CHECK(pthread_join(thread->pthread, NULL) == 0);
    CHECK(pthread_mutex_destroy(&thread->orders) == 0);
    CHECK(pthread_mutex_destroy(&thread->mutex) == 0);
    CHECK(pthread_cond_destroy(&thread->woken) == 0);
}

struct learner_thread_used learner_thread_used(const struct learner_thread *thread)
{
    return thread->used;
}
