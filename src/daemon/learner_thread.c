#include "daemon/learner_thread.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

#include "daemon/ring.h"
#include "base/error.h"

#define EVENT_RING_BYTES (256 * 1024)
#define OTHER_EVENTS     512
#define PROGRESS_NS      20000000 /* STEPPED is said no more often than this */

enum command_kind {
    COMMAND_HEAR,
    COMMAND_TRAIN,
    COMMAND_TELL,
    COMMAND_READ,
    COMMAND_WRITE,
    COMMAND_SAVE,
    COMMAND_EVALUATE,
    COMMAND_STOP
};

struct command {
    enum command_kind kind;
    bool last; /* TELL: and train no more */
    struct publish_terms terms;
    uint64_t swarm_samples; /* TRAIN */
    bool own;               /* HEAR: told by an earlier life */
    struct update heard;    /* HEAR: count indexes and levels follow this struct */
    uint64_t first;         /* READ, WRITE; the units written follow this struct */
    uint32_t entries;
    bool keep_weights;
    struct learner_state *state; /* SAVE */
};

struct learner_thread {
    struct learner *learner;
    struct learner_thread_options options;
    struct ring commands;
    struct ring events;
    pthread_t thread;
    pthread_mutex_t mutex; /* only for falling asleep and waking up */
    pthread_cond_t woken;
    int32_t *units; /* [read_max] what was read last: between READ and its answer the learner's */

    /* The learner thread's own: */
    bool training;
    bool stopped;
    struct batch_size batch_size;
    struct learner_thread_event progress; /* STEPPED, not yet said */
    uint64_t said_ns;
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

/* The learner's thread. */

static void say(struct learner_thread *worker, const struct learner_thread_event *event)
{
    struct learner_thread_event *room = ring_room(&worker->events, sizeof *event);
    CHECK(room);
    *room = *event;
    ring_put(&worker->events, sizeof *event);
    worker->options.wake(worker->options.waker);
}

static void say_progress(struct learner_thread *worker)
{
    /* Progress can wait and add up while the loop is busy; the rest of the ring is for the others,
     * of which a bounded number is under way. */
    if (worker->progress.steps == 0 ||
        !ring_room(&worker->events, OTHER_EVENTS * sizeof(struct learner_thread_event)))
        return;
    worker->progress.loss_sum = learner_losses(worker->learner);
    say(worker, &worker->progress);
    worker->progress = (struct learner_thread_event){.kind = LEARNER_THREAD_STEPPED};
    worker->said_ns = now_ns();
}

static void do_hear(struct learner_thread *worker, const struct command *command)
{
    struct update update = command->heard;
    update.index = (uint32_t *)(uintptr_t)(command + 1);
    update.level = (int8_t *)(update.index + update.count);
    if (command->own)
        learner_apply_own(worker->learner, &update);
    else
        learner_apply(worker->learner, &update);
    say(worker,
        &(struct learner_thread_event){.kind = LEARNER_THREAD_APPLIED, .entries = update.count});
}

static void do_tell(struct learner_thread *worker, const struct command *command)
{
    if (command->last)
        worker->training = false;
    say_progress(worker); /* the rumors say how many samples are behind them */
    const struct update *update = learner_publish(worker->learner, &command->terms);
    say(worker, &(struct learner_thread_event){.kind = LEARNER_THREAD_TOLD, .update = update});
}

static void do_read(struct learner_thread *worker, const struct command *command)
{
    learner_read_block(worker->learner, command->first, command->entries, worker->units);
    say(worker,
        &(struct learner_thread_event){.kind = LEARNER_THREAD_READ, .units = worker->units});
}

static void do_write(struct learner_thread *worker, const struct command *command)
{
    learner_write_block(worker->learner, command->first, command->entries,
                        (const int32_t *)(command + 1), command->keep_weights);
    say(worker, &(struct learner_thread_event){.kind = LEARNER_THREAD_APPLIED,
                                               .entries = command->entries});
}

static void do_save(struct learner_thread *worker, const struct command *command)
{
    learner_save(worker->learner, command->state);
    say(worker, &(struct learner_thread_event){.kind = LEARNER_THREAD_SAVED});
}

static void do_command(struct learner_thread *worker, const struct command *command)
{
    switch (command->kind) {
    case COMMAND_HEAR:
        do_hear(worker, command);
        break;
    case COMMAND_TRAIN:
        learner_follow(worker->learner, command->swarm_samples);
        worker->training = learner_can_step(worker->learner);
        break;
    case COMMAND_TELL:
        do_tell(worker, command);
        break;
    case COMMAND_READ:
        do_read(worker, command);
        break;
    case COMMAND_WRITE:
        do_write(worker, command);
        break;
    case COMMAND_SAVE:
        do_save(worker, command);
        break;
    case COMMAND_EVALUATE:
        say(worker,
            &(struct learner_thread_event){.kind = LEARNER_THREAD_EVALUATED,
                                           .evaluation = learner_evaluate(worker->learner, false)});
        break;
    case COMMAND_STOP:
        worker->stopped = true;
        break;
    }
}

static bool is_exchange(enum command_kind kind)
{
    return kind == COMMAND_HEAR || kind == COMMAND_TELL || kind == COMMAND_READ ||
           kind == COMMAND_WRITE;
}

static void do_next_command(struct learner_thread *worker, const struct command *command)
{
    const uint64_t from_ns = thread_ns();
    do_command(worker, command);
    if (is_exchange(command->kind))
        worker->used.exchange_ns += thread_ns() - from_ns;
    ring_done(&worker->commands);
}

/* How many samples the next step has follows from how long this one took. */
static uint32_t paced_step(struct learner_thread *worker)
{
    const uint64_t from_ns = now_ns();
    const uint32_t samples = learner_step(worker->learner);
    const uint32_t batch = batch_size_on_step(&worker->batch_size, samples, now_ns() - from_ns);
    if (batch != samples)
        learner_set_batch(worker->learner, batch);
    return samples;
}

static void do_step(struct learner_thread *worker)
{
    const uint64_t from_ns = thread_ns();
    const uint32_t samples = paced_step(worker);
    worker->used.steps_ns += thread_ns() - from_ns;
    worker->progress.steps++;
    worker->progress.samples += samples;
    worker->progress.batch = worker->batch_size.step_ns > 0 ? learner_batch(worker->learner) : 0;
    const uint64_t most = worker->options.samples_max;
    if (most && learner_samples(worker->learner) >= most)
        worker->training = false;
    if (!worker->training || now_ns() - worker->said_ns >= PROGRESS_NS)
        say_progress(worker);
}

static void sleep_until_woken(struct learner_thread *worker)
{
    CHECK(pthread_mutex_lock(&worker->mutex) == 0);
    while (!ring_peek(&worker->commands))
        CHECK(pthread_cond_wait(&worker->woken, &worker->mutex) == 0);
    CHECK(pthread_mutex_unlock(&worker->mutex) == 0);
}

static void *learner_thread(void *argument)
{
    struct learner_thread *worker = argument;
    while (!worker->stopped) {
        const struct command *command = ring_peek(&worker->commands);
        if (command) {
            do_next_command(worker, command);
        } else if (worker->training) {
            do_step(worker);
        } else {
            sleep_until_woken(worker);
        }
    }
    return NULL;
}

/* The loop's thread. */

static struct command *command_room(struct learner_thread *worker, uint32_t bytes)
{
    struct command *command = ring_room(&worker->commands, bytes);
    CHECK(command);
    return command;
}

static void command_put(struct learner_thread *worker, uint32_t bytes)
{
    ring_put(&worker->commands, bytes);
    CHECK(pthread_mutex_lock(&worker->mutex) == 0);
    CHECK(pthread_cond_signal(&worker->woken) == 0);
    CHECK(pthread_mutex_unlock(&worker->mutex) == 0);
}

static void put_simple(struct learner_thread *worker, const struct command *command)
{
    *command_room(worker, sizeof *command) = *command;
    command_put(worker, sizeof *command);
}

/* Twice what may be under way (a record must fit one half), and room for the small ones. */
static uint64_t command_ring_bytes(const struct learner_thread_options *options)
{
    return (uint64_t)options->apply_window * 10 + 1024 * 1024;
}

size_t learner_thread_arena_bytes(const struct learner_thread_options *options)
{
    return sizeof(struct learner_thread) + 2 * command_ring_bytes(options) + EVENT_RING_BYTES +
           options->read_max * sizeof(int32_t) + 4096;
}

struct learner_thread *learner_thread_new(struct arena *arena, struct learner *learner,
                                          const struct learner_thread_options *options)
{
    struct learner_thread *worker = arena_take(arena, 1, sizeof *worker);
    worker->learner = learner;
    worker->options = *options;
    worker->batch_size = options->batch_size;
    worker->progress.kind = LEARNER_THREAD_STEPPED;
    ring_init(&worker->commands, arena, command_ring_bytes(options));
    worker->units = arena_take(arena, options->read_max, sizeof *worker->units);
    ring_init(&worker->events, arena, EVENT_RING_BYTES);
    CHECK(pthread_mutex_init(&worker->mutex, NULL) == 0);
    CHECK(pthread_cond_init(&worker->woken, NULL) == 0);
    CHECK(pthread_create(&worker->thread, NULL, learner_thread, worker) == 0);
    return worker;
}

void learner_thread_apply(struct learner_thread *worker, const struct update *update, bool own)
{
    const uint32_t bytes =
        (uint32_t)(sizeof(struct command) + update->count * (sizeof(uint32_t) + sizeof(int8_t)));
    struct command *command = command_room(worker, bytes);
    *command = (struct command){.kind = COMMAND_HEAR, .heard = *update, .own = own};
    uint32_t *index = (uint32_t *)(command + 1);
    memcpy(index, update->index, update->count * sizeof *index);
    memcpy(index + update->count, update->level, update->count);
    command_put(worker, bytes);
}

void learner_thread_read(struct learner_thread *worker, uint64_t first, uint32_t entries)
{
    CHECK(entries <= worker->options.read_max);
    put_simple(worker, &(struct command){.kind = COMMAND_READ, .first = first, .entries = entries});
}

void learner_thread_write(struct learner_thread *worker, uint64_t first, uint32_t entries,
                          const int32_t *units, bool keep_weights)
{
    const uint32_t bytes = (uint32_t)(sizeof(struct command) + entries * sizeof *units);
    struct command *command = command_room(worker, bytes);
    *command = (struct command){
        .kind = COMMAND_WRITE, .first = first, .entries = entries, .keep_weights = keep_weights};
    memcpy(command + 1, units, entries * sizeof *units);
    command_put(worker, bytes);
}

void learner_thread_save(struct learner_thread *worker, struct learner_state *state)
{
    put_simple(worker, &(struct command){.kind = COMMAND_SAVE, .state = state});
}

void learner_thread_train(struct learner_thread *worker, uint64_t swarm_samples)
{
    put_simple(worker, &(struct command){.kind = COMMAND_TRAIN, .swarm_samples = swarm_samples});
}

void learner_thread_publish(struct learner_thread *worker, const struct publish_terms *terms,
                            bool last)
{
    put_simple(worker, &(struct command){.kind = COMMAND_TELL, .terms = *terms, .last = last});
}

void learner_thread_evaluate(struct learner_thread *worker)
{
    put_simple(worker, &(struct command){.kind = COMMAND_EVALUATE});
}

bool learner_thread_next(struct learner_thread *worker, struct learner_thread_event *event)
{
    const struct learner_thread_event *oldest = ring_peek(&worker->events);
    if (!oldest)
        return false;
    *event = *oldest;
    ring_done(&worker->events);
    return true;
}

void learner_thread_stop(struct learner_thread *worker)
{
    put_simple(worker, &(struct command){.kind = COMMAND_STOP});
    CHECK(pthread_join(worker->thread, NULL) == 0);
    CHECK(pthread_mutex_destroy(&worker->mutex) == 0);
    CHECK(pthread_cond_destroy(&worker->woken) == 0);
}

struct learner_thread_used learner_thread_used(const struct learner_thread *worker)
{
    return worker->used;
}
