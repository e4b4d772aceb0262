#include "daemon/learner_thread.h"

#include <pthread.h>

#include "base/error.h"
#include "base/thread.h"
#include "training/step_time.h"

#define MEMORY_NS 1000000000u
/* minimum ns between two STEPPED events; less before a PUBLISH and when training ends */
#define PROGRESS_NS 20000000

struct learner_thread {
    struct learner *learner;
    struct learner_thread_options options;
    struct learner_link link;
    pthread_t pthread;

    /* While the learner's thread runs, only it uses the members below, except working_ns. */
    bool is_training;
    bool is_stopped;
    struct batch_size batch_size;
    struct learner_event progress; /* STEPPED event that was not sent yet */
    uint64_t said_ns;              /* time of the last STEPPED event */
    uint64_t due_ns;               /* earliest start of the next step */
    double rate_factor;            /* factor on the learning rate of the schedule */
    struct learner_thread_used used;
    uint64_t memory_ns; /* time of the last measurement of the device memory */

    _Atomic uint64_t working_ns; /* 0 = no step or order is under way */
};

/* The functions below run on the learner's thread. */

/* Counts the time of a step, and adapts the batch size to it. */
static void count_time(struct learner_thread *thread, uint32_t samples, uint64_t took_ns)
{
    const uint32_t batch = batch_size_on_step(&thread->batch_size, samples, took_ns);
    time_spent_step(&thread->progress.spent, took_ns);
    if (batch != samples)
        learner_set_batch(thread->learner, batch);
}

/* Counts the times of steps that a GPU has completed. The host's clock cannot measure them, because
 * the host only queues a step. */
static void count_device_times(struct learner_thread *thread)
{
    struct step_time time;
    while (step_time_take(thread->learner, &time))
        count_time(thread, time.samples, time.ns);
}

static void look_at_memory(struct learner_thread *thread)
{
    const uint64_t now_ns = monotonic_ns();
    if (now_ns - thread->memory_ns < MEMORY_NS)
        return;
    thread->progress.memory = learner_memory(thread->learner);
    thread->memory_ns = now_ns;
}

static void say_progress(struct learner_thread *thread)
{
    if (thread->progress.steps == 0)
        return;
    /* May wait until a GPU has completed its steps. */
    thread->progress.loss_sum += learner_losses(thread->learner);
    count_device_times(thread);
    look_at_memory(thread);
    if (!learner_link_say_progress(&thread->link, &thread->progress))
        return;
    thread->progress = (struct learner_event){.kind = LEARNER_STEPPED};
    thread->said_ns = monotonic_ns();
}

/* Counts the time of an order. Some orders wait for steps that were queued on a GPU, so subtracts
 * the time of these steps. */
static void count_exchange(struct learner_thread *thread, uint64_t took_ns)
{
    const uint64_t before_ns = thread->progress.spent.steps_ns;
    count_device_times(thread);
    const uint64_t steps_ns = thread->progress.spent.steps_ns - before_ns;
    time_spent_exchange(&thread->progress.spent, took_ns > steps_ns ? took_ns - steps_ns : 0);
}

static void perform(struct learner_thread *thread, const struct action *order)
{
    if (order->kind == ACTION_PUBLISH && order->last)
        thread->is_training = false;
    if (order->kind == ACTION_PUBLISH)
        /* The node needs the number of learned samples for its next rumor. */
        say_progress(thread);
    count_device_times(thread);
    const uint64_t from_ns = monotonic_ns();
    const uint64_t took_ns = learner_link_perform(&thread->link, order);
    if (order->kind != ACTION_PREDICT)
        count_exchange(thread, monotonic_ns() - from_ns);
    if (order->kind != ACTION_TRAIN && order->kind != ACTION_SAVE && order->kind != ACTION_PREDICT)
        thread->used.exchange_ns += took_ns;
    if (order->kind == ACTION_TRAIN)
        thread->is_training = learner_can_step(thread->learner);
    if (order->kind == ACTION_PUBLISH) {
        learner_link_report_reset(&thread->link, learner_resets(thread->learner));
        learner_link_say_saturation(&thread->link, learner_saturation(thread->learner));
    }
}

/* The mutex `orders` is not held, so that the loop may READ meanwhile. */
static void evaluate(struct learner_thread *thread)
{
    const uint64_t from_ns = monotonic_ns();
    struct learner_event evaluated = {.kind = LEARNER_EVALUATED,
                                      .evaluation = learner_evaluate(thread->learner, false)};
    evaluated.averaged = learner_evaluate_average(thread->learner, false);
    evaluated.took_ns = monotonic_ns() - from_ns;
    learner_link_say(&thread->link, &evaluated);
}

static void look(struct learner_thread *thread)
{
    struct learner_event looked = {.kind = LEARNER_LOOKED};
    if (learner_samples(thread->learner) == 0 || !learner_can_step(thread->learner))
        return;
    vitals_of(thread->learner, &looked.vitals);
    learner_link_say(&thread->link, &looked);
}

static void slow(struct learner_thread *thread)
{
    thread->rate_factor /= 2;
    if (learner_can_step(thread->learner))
        learner_scale_rate(thread->learner, thread->rate_factor);
}

static void do_request(struct learner_thread *thread, const struct learner_request *request)
{
    switch (request->kind) {
    case LEARNER_ORDER:
        thread->working_ns = monotonic_ns();
        perform(thread, request->order);
        thread->working_ns = 0;
        break;
    case LEARNER_EVALUATE:
        evaluate(thread);
        break;
    case LEARNER_LOOK:
        look(thread);
        break;
    case LEARNER_SLOW:
        slow(thread);
        break;
    case LEARNER_STOP:
        thread->is_stopped = true;
        break;
    }
    learner_link_done(&thread->link);
}

static uint32_t timed_step(struct learner_thread *thread)
{
    const uint64_t from_ns = monotonic_ns();
    const uint32_t samples = learner_step(thread->learner);
    if (step_time_is_needed(thread->learner))
        count_device_times(thread);
    else
        count_time(thread, samples, monotonic_ns() - from_ns);
    return samples;
}

static void do_step(struct learner_thread *thread)
{
    const uint64_t from_ns = system_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    thread->due_ns = monotonic_ns() + thread->options.step_ns_min;
    const uint32_t samples = timed_step(thread);
    thread->used.steps_ns += system_clock_ns(CLOCK_THREAD_CPUTIME_ID) - from_ns;
    thread->progress.steps++;
    thread->progress.samples += samples;
    thread->progress.batch = thread->batch_size.step_ns > 0 ? learner_batch(thread->learner) : 0;
    const uint64_t most = thread->options.samples_max;
    thread->progress.is_over = most && learner_samples(thread->learner) >= most;
    if (thread->progress.is_over)
        thread->is_training = false;
    if (!thread->is_training || monotonic_ns() - thread->said_ns >= PROGRESS_NS)
        say_progress(thread);
}

static bool is_step_due(void *context)
{
    const struct learner_thread *thread = context;
    return thread->is_training && monotonic_ns() >= thread->due_ns;
}

static void do_watched_step(struct learner_thread *thread)
{
    thread->working_ns = monotonic_ns();
    do_step(thread);
    thread->working_ns = 0;
}

static void *run(void *argument)
{
    struct learner_thread *thread = argument;
    while (!thread->is_stopped) {
        const struct learner_request *request = learner_link_peek(&thread->link);
        if (request)
            do_request(thread, request);
        else if (is_step_due(thread))
            do_watched_step(thread);
        else
            learner_link_sleep(&thread->link, thread->is_training ? thread->due_ns : UINT64_MAX,
                               is_step_due, thread);
    }
    return NULL;
}

/* The functions below run on the loop's thread. */

size_t learner_thread_arena_bytes(const struct learner_thread_options *options)
{
    return sizeof(struct learner_thread) + learner_link_arena_bytes(options->apply_window) + 64;
}

struct learner_thread *learner_thread_new(struct arena *arena, struct learner *learner,
                                          const struct learner_thread_options *options)
{
    CHECK(learner && options->wake);
    struct learner_thread *thread = arena_alloc(arena, 1, sizeof *thread);
    thread->learner = learner;
    thread->options = *options;
    thread->batch_size = options->batch_size;
    thread->progress.kind = LEARNER_STEPPED;
    thread->rate_factor = 1;
    const struct learner_link_options link_options = {.apply_window = options->apply_window,
                                                      .ops = &executor_learner_ops,
                                                      .learner = learner,
                                                      .snapshot = options->snapshot,
                                                      .wake = options->wake,
                                                      .waker = options->waker};
    learner_link_init(&thread->link, arena, &link_options);
    thread_begin(&thread->pthread, run, thread);
    return thread;
}

struct learner_link *learner_thread_link(struct learner_thread *thread)
{
    return &thread->link;
}

void learner_thread_stop(struct learner_thread *thread)
{
    learner_link_ask(&thread->link, LEARNER_STOP);
    CHECK(pthread_join(thread->pthread, NULL) == 0);
    learner_link_end(&thread->link);
}

struct learner_thread_used learner_thread_used(const struct learner_thread *thread)
{
    return thread->used;
}

uint64_t learner_thread_working_ns(const struct learner_thread *thread)
{
    return thread->working_ns;
}
