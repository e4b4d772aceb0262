#include "daemon/learner_link.h"

#include <errno.h>
#include <time.h>

#include "base/error.h"
#include "base/time_units.h"

#define EVENT_RING_BYTES (512 * 1024)
/* Number of other events that must still fit into the ring after a report of steps. They take
 * almost half of the ring, and ring_room cannot check for more. */
#define OTHER_EVENTS (EVENT_RING_BYTES / 2 / sizeof(struct learner_event) - 1)

static void lock(struct learner_link *link)
{
    CHECK(pthread_mutex_lock(&link->orders) == 0);
}

static void unlock(struct learner_link *link)
{
    CHECK(pthread_mutex_unlock(&link->orders) == 0);
}

/* Both threads call this function. The caller has locked `orders`. */
static void say(struct learner_link *link, const struct learner_event *event)
{
    struct learner_event *room = ring_room(&link->events, sizeof *event);
    CHECK(room);
    *room = *event;
    ring_put(&link->events, sizeof *event);
    link->options.wake(link->options.waker);
}

static void say_answer(struct learner_link *link, const struct answer *answer)
{
    say(link, &(struct learner_event){.kind = LEARNER_ANSWERED, .answer = *answer});
}

/* The functions below run on the stepping thread, except learner_link_nudge. */

static bool has_no_more(void *context)
{
    const struct learner_link *link = context;
    return !atomic_load(&link->has_more);
}

const struct learner_request *learner_link_peek(struct learner_link *link)
{
    if (atomic_load(&link->has_more))
        learner_link_sleep(link, UINT64_MAX, has_no_more, link);
    return ring_peek(&link->requests);
}

void learner_link_done(struct learner_link *link)
{
    ring_done(&link->requests);
}

uint64_t learner_link_perform(struct learner_link *link, const struct action *order)
{
    lock(link);
    const uint64_t from_ns = system_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    struct answer answer = executor_perform(&link->executor, order);
    const uint64_t took_ns = system_clock_ns(CLOCK_THREAD_CPUTIME_ID) - from_ns;
    answer.took_ns = took_ns;
    if (order->kind != ACTION_TRAIN)
        say_answer(link, &answer);
    unlock(link);
    return took_ns;
}

void learner_link_say(struct learner_link *link, const struct learner_event *event)
{
    lock(link);
    say(link, event);
    unlock(link);
}

bool learner_link_say_progress(struct learner_link *link, const struct learner_event *progress)
{
    CHECK(progress->kind == LEARNER_STEPPED);
    lock(link);
    const bool has_room = ring_room(&link->events, (uint32_t)(OTHER_EVENTS * sizeof *progress));
    if (has_room)
        say(link, progress);
    unlock(link);
    return has_room;
}

void learner_link_report_reset(struct learner_link *link, const struct learner_resets *resets)
{
    if (resets->count == link->resets)
        return;
    link->resets = resets->count;
    learner_link_say(link, &(struct learner_event){.kind = LEARNER_RESET, .resets = *resets});
}

void learner_link_say_saturation(struct learner_link *link,
                                 const struct learner_saturation *saturation)
{
    if (saturation->entries == link->saturated)
        return;
    link->saturated = saturation->entries;
    learner_link_say(link,
                     &(struct learner_event){.kind = LEARNER_SATURATED, .saturation = *saturation});
}

void learner_link_sleep(struct learner_link *link, uint64_t due_ns, bool (*is_over)(void *context),
                        void *context)
{
    const struct timespec due = {.tv_sec = (time_t)(due_ns / SECOND_NS),
                                 .tv_nsec = (long)(due_ns % SECOND_NS)};
    CHECK(pthread_mutex_lock(&link->mutex) == 0);
    while (!ring_peek(&link->requests) && !is_over(context) && monotonic_ns() < due_ns) {
        const int error = due_ns < UINT64_MAX
                              ? pthread_cond_timedwait(&link->woken, &link->mutex, &due)
                              : pthread_cond_wait(&link->woken, &link->mutex);
        CHECK(error == 0 || error == ETIMEDOUT);
    }
    CHECK(pthread_mutex_unlock(&link->mutex) == 0);
}

void learner_link_nudge(struct learner_link *link)
{
    CHECK(pthread_mutex_lock(&link->mutex) == 0);
    CHECK(pthread_cond_signal(&link->woken) == 0);
    CHECK(pthread_mutex_unlock(&link->mutex) == 0);
}

/* The functions below run on the loop's thread, or before it starts and after it has ended. */

/* Timeouts use the monotonic clock. */
static void condition_init(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    CHECK(pthread_condattr_init(&attributes) == 0);
    CHECK(pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0);
    CHECK(pthread_cond_init(condition, &attributes) == 0);
    CHECK(pthread_condattr_destroy(&attributes) == 0);
}

/* 5 bytes per entry for 2 · apply_window entries, plus 1 MiB for small requests. The factor 2 is
 * needed because one record may fill at most half of the ring. */
static uint64_t request_ring_bytes(uint32_t apply_window)
{
    return (uint64_t)apply_window * 10 + 1024 * 1024;
}

size_t learner_link_arena_bytes(uint32_t apply_window)
{
    return 2 * request_ring_bytes(apply_window) + EVENT_RING_BYTES +
           NODE_READ_MAX * sizeof(int32_t) + NODE_PREDICT_MAX * sizeof(float) + 4096;
}

void learner_link_init(struct learner_link *link, struct arena *arena,
                       const struct learner_link_options *options)
{
    CHECK(options->learner && options->wake && options->ops);
    link->options = *options;
    link->executor =
        (struct executor){.ops = options->ops,
                          .learner = options->learner,
                          .units = arena_alloc(arena, NODE_READ_MAX, sizeof(int32_t)),
                          .numbers = arena_alloc(arena, NODE_PREDICT_MAX, sizeof(float)),
                          .snapshot = options->snapshot};
    link->resets = 0;
    link->saturated = 0;
    atomic_init(&link->has_more, false);
    ring_init(&link->requests, arena, request_ring_bytes(options->apply_window));
    ring_init(&link->events, arena, EVENT_RING_BYTES);
    CHECK(pthread_mutex_init(&link->orders, NULL) == 0);
    CHECK(pthread_mutex_init(&link->mutex, NULL) == 0);
    condition_init(&link->woken);
}

void learner_link_end(struct learner_link *link)
{
    CHECK(pthread_mutex_destroy(&link->orders) == 0);
    CHECK(pthread_mutex_destroy(&link->mutex) == 0);
    CHECK(pthread_cond_destroy(&link->woken) == 0);
}

/* order: NULL unless kind is LEARNER_ORDER. */
static void put(struct learner_link *link, enum learner_request_kind kind,
                const struct action *order)
{
    const size_t bytes = sizeof(struct learner_request) + (order ? order_bytes(order) : 0);
    CHECK(bytes <= UINT32_MAX);
    struct learner_request *request = ring_room(&link->requests, (uint32_t)bytes);
    CHECK(request);
    request->kind = kind;
    if (order)
        (void)order_copy(request->order, order);
    ring_put(&link->requests, (uint32_t)bytes);
    learner_link_nudge(link);
}

/* Returns false, without waiting, if the stepping thread holds the mutex `orders`. */
static bool read_now(struct learner_link *link, const struct action *order)
{
    if (pthread_mutex_trylock(&link->orders) != 0)
        return false;
    const struct answer answer = executor_perform(&link->executor, order);
    say_answer(link, &answer);
    unlock(link);
    return true;
}

void learner_link_order(struct learner_link *link, const struct action *order)
{
    if (order->kind != ACTION_READ || !read_now(link, order))
        put(link, LEARNER_ORDER, order);
}

void learner_link_ask(struct learner_link *link, enum learner_request_kind kind)
{
    CHECK(kind != LEARNER_ORDER);
    put(link, kind, NULL);
}

void learner_link_set_more(struct learner_link *link, bool has_more)
{
    if (atomic_exchange(&link->has_more, has_more) && !has_more)
        learner_link_nudge(link);
}

bool learner_link_next(struct learner_link *link, struct learner_event *event)
{
    const struct learner_event *oldest = ring_peek(&link->events);
    if (!oldest)
        return false;
    *event = *oldest;
    ring_done(&link->events);
    return true;
}
