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
    struct tell tell;
    uint64_t swarm_samples; /* TRAIN */
    bool own;               /* HEAR: told by an earlier life */
    struct update heard;    /* HEAR: count indexes and levels follow this struct */
    uint64_t first;         /* READ, WRITE; the units written follow this struct */
    uint32_t entries;
    bool keep_weights;
    struct learner_state *state; /* SAVE */
};

struct hatch {
    struct learner *learner;
    struct hatch_options options;
    struct ring commands;
    struct ring events;
    pthread_t thread;
    pthread_mutex_t mutex; /* only for falling asleep and waking up */
    pthread_cond_t woken;
    int32_t *units; /* [read_max] what was read last: between READ and its answer the learner's */

    /* The learner thread's own: */
    bool training;
    bool stopped;
    struct pace pace;
    struct hatch_event progress; /* STEPPED, not yet said */
    uint64_t said_ns;
    struct hatch_used used;
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

static void say(struct hatch *hatch, const struct hatch_event *event)
{
    struct hatch_event *room = ring_room(&hatch->events, sizeof *event);
    CHECK(room);
    *room = *event;
    ring_put(&hatch->events, sizeof *event);
    hatch->options.wake(hatch->options.waker);
}

static void say_progress(struct hatch *hatch)
{
    /* Progress can wait and add up while the loop is busy; the rest of the ring is for the others,
     * of which a bounded number is under way. */
    if (hatch->progress.steps == 0 ||
        !ring_room(&hatch->events, OTHER_EVENTS * sizeof(struct hatch_event)))
        return;
    hatch->progress.loss_sum = learner_losses(hatch->learner);
    say(hatch, &hatch->progress);
    hatch->progress = (struct hatch_event){.kind = HATCH_STEPPED};
    hatch->said_ns = now_ns();
}

static void do_hear(struct hatch *hatch, const struct command *command)
{
    struct update update = command->heard;
    update.index = (uint32_t *)(uintptr_t)(command + 1);
    update.level = (int8_t *)(update.index + update.count);
    if (command->own)
        learner_hear_own(hatch->learner, &update);
    else
        learner_hear(hatch->learner, &update);
    say(hatch, &(struct hatch_event){.kind = HATCH_APPLIED, .entries = update.count});
}

static void do_tell(struct hatch *hatch, const struct command *command)
{
    if (command->last)
        hatch->training = false;
    say_progress(hatch); /* the rumors say how many samples are behind them */
    const struct update *update = learner_tell(hatch->learner, &command->tell);
    say(hatch, &(struct hatch_event){.kind = HATCH_TOLD, .update = update});
}

static void do_read(struct hatch *hatch, const struct command *command)
{
    learner_read_block(hatch->learner, command->first, command->entries, hatch->units);
    say(hatch, &(struct hatch_event){.kind = HATCH_READ, .units = hatch->units});
}

static void do_write(struct hatch *hatch, const struct command *command)
{
    learner_write_block(hatch->learner, command->first, command->entries,
                        (const int32_t *)(command + 1), command->keep_weights);
    say(hatch, &(struct hatch_event){.kind = HATCH_APPLIED, .entries = command->entries});
}

static void do_save(struct hatch *hatch, const struct command *command)
{
    learner_save(hatch->learner, command->state);
    say(hatch, &(struct hatch_event){.kind = HATCH_SAVED});
}

static void do_command(struct hatch *hatch, const struct command *command)
{
    switch (command->kind) {
    case COMMAND_HEAR:
        do_hear(hatch, command);
        break;
    case COMMAND_TRAIN:
        learner_follow(hatch->learner, command->swarm_samples);
        hatch->training = learner_can_step(hatch->learner);
        break;
    case COMMAND_TELL:
        do_tell(hatch, command);
        break;
    case COMMAND_READ:
        do_read(hatch, command);
        break;
    case COMMAND_WRITE:
        do_write(hatch, command);
        break;
    case COMMAND_SAVE:
        do_save(hatch, command);
        break;
    case COMMAND_EVALUATE:
        say(hatch, &(struct hatch_event){.kind = HATCH_EVALUATED,
                                         .evaluation = learner_evaluate(hatch->learner, false)});
        break;
    case COMMAND_STOP:
        hatch->stopped = true;
        break;
    }
}

static bool is_exchange(enum command_kind kind)
{
    return kind == COMMAND_HEAR || kind == COMMAND_TELL || kind == COMMAND_READ ||
           kind == COMMAND_WRITE;
}

static void do_next_command(struct hatch *hatch, const struct command *command)
{
    const uint64_t from_ns = thread_ns();
    do_command(hatch, command);
    if (is_exchange(command->kind))
        hatch->used.exchange_ns += thread_ns() - from_ns;
    ring_done(&hatch->commands);
}

/* How many samples the next step has follows from how long this one took. */
static uint32_t paced_step(struct hatch *hatch)
{
    const uint64_t from_ns = now_ns();
    const uint32_t samples = learner_step(hatch->learner);
    const uint32_t batch = pace_on_step(&hatch->pace, samples, now_ns() - from_ns);
    if (batch != samples)
        learner_set_batch(hatch->learner, batch);
    return samples;
}

static void do_step(struct hatch *hatch)
{
    const uint64_t from_ns = thread_ns();
    const uint32_t samples = paced_step(hatch);
    hatch->used.steps_ns += thread_ns() - from_ns;
    hatch->progress.steps++;
    hatch->progress.samples += samples;
    hatch->progress.batch = hatch->pace.step_ns > 0 ? learner_batch(hatch->learner) : 0;
    const uint64_t most = hatch->options.samples_max;
    if (most && learner_samples(hatch->learner) >= most)
        hatch->training = false;
    if (!hatch->training || now_ns() - hatch->said_ns >= PROGRESS_NS)
        say_progress(hatch);
}

static void sleep_until_woken(struct hatch *hatch)
{
    CHECK(pthread_mutex_lock(&hatch->mutex) == 0);
    while (!ring_peek(&hatch->commands))
        CHECK(pthread_cond_wait(&hatch->woken, &hatch->mutex) == 0);
    CHECK(pthread_mutex_unlock(&hatch->mutex) == 0);
}

static void *learner_thread(void *argument)
{
    struct hatch *hatch = argument;
    while (!hatch->stopped) {
        const struct command *command = ring_peek(&hatch->commands);
        if (command) {
            do_next_command(hatch, command);
        } else if (hatch->training) {
            do_step(hatch);
        } else {
            sleep_until_woken(hatch);
        }
    }
    return NULL;
}

/* The loop's thread. */

static struct command *command_room(struct hatch *hatch, uint32_t bytes)
{
    struct command *command = ring_room(&hatch->commands, bytes);
    CHECK(command);
    return command;
}

static void command_put(struct hatch *hatch, uint32_t bytes)
{
    ring_put(&hatch->commands, bytes);
    CHECK(pthread_mutex_lock(&hatch->mutex) == 0);
    CHECK(pthread_cond_signal(&hatch->woken) == 0);
    CHECK(pthread_mutex_unlock(&hatch->mutex) == 0);
}

static void put_simple(struct hatch *hatch, const struct command *command)
{
    *command_room(hatch, sizeof *command) = *command;
    command_put(hatch, sizeof *command);
}

/* Twice what may be under way (a record must fit one half), and room for the small ones. */
static uint64_t command_ring_bytes(const struct hatch_options *options)
{
    return (uint64_t)options->apply_window * 10 + 1024 * 1024;
}

size_t hatch_arena_bytes(const struct hatch_options *options)
{
    return sizeof(struct hatch) + 2 * command_ring_bytes(options) + EVENT_RING_BYTES +
           options->read_max * sizeof(int32_t) + 4096;
}

struct hatch *hatch_new(struct arena *arena, struct learner *learner,
                        const struct hatch_options *options)
{
    struct hatch *hatch = arena_take(arena, 1, sizeof *hatch);
    hatch->learner = learner;
    hatch->options = *options;
    hatch->pace = options->pace;
    hatch->progress.kind = HATCH_STEPPED;
    ring_init(&hatch->commands, arena, command_ring_bytes(options));
    hatch->units = arena_take(arena, options->read_max, sizeof *hatch->units);
    ring_init(&hatch->events, arena, EVENT_RING_BYTES);
    CHECK(pthread_mutex_init(&hatch->mutex, NULL) == 0);
    CHECK(pthread_cond_init(&hatch->woken, NULL) == 0);
    CHECK(pthread_create(&hatch->thread, NULL, learner_thread, hatch) == 0);
    return hatch;
}

void hatch_hear(struct hatch *hatch, const struct update *update, bool own)
{
    const uint32_t bytes =
        (uint32_t)(sizeof(struct command) + update->count * (sizeof(uint32_t) + sizeof(int8_t)));
    struct command *command = command_room(hatch, bytes);
    *command = (struct command){.kind = COMMAND_HEAR, .heard = *update, .own = own};
    uint32_t *index = (uint32_t *)(command + 1);
    memcpy(index, update->index, update->count * sizeof *index);
    memcpy(index + update->count, update->level, update->count);
    command_put(hatch, bytes);
}

void hatch_read(struct hatch *hatch, uint64_t first, uint32_t entries)
{
    CHECK(entries <= hatch->options.read_max);
    put_simple(hatch, &(struct command){.kind = COMMAND_READ, .first = first, .entries = entries});
}

void hatch_write(struct hatch *hatch, uint64_t first, uint32_t entries, const int32_t *units,
                 bool keep_weights)
{
    const uint32_t bytes = (uint32_t)(sizeof(struct command) + entries * sizeof *units);
    struct command *command = command_room(hatch, bytes);
    *command = (struct command){
        .kind = COMMAND_WRITE, .first = first, .entries = entries, .keep_weights = keep_weights};
    memcpy(command + 1, units, entries * sizeof *units);
    command_put(hatch, bytes);
}

void hatch_save(struct hatch *hatch, struct learner_state *state)
{
    put_simple(hatch, &(struct command){.kind = COMMAND_SAVE, .state = state});
}

void hatch_train(struct hatch *hatch, uint64_t swarm_samples)
{
    put_simple(hatch, &(struct command){.kind = COMMAND_TRAIN, .swarm_samples = swarm_samples});
}

void hatch_tell(struct hatch *hatch, const struct tell *tell, bool last)
{
    put_simple(hatch, &(struct command){.kind = COMMAND_TELL, .tell = *tell, .last = last});
}

void hatch_evaluate(struct hatch *hatch)
{
    put_simple(hatch, &(struct command){.kind = COMMAND_EVALUATE});
}

bool hatch_next(struct hatch *hatch, struct hatch_event *event)
{
    const struct hatch_event *oldest = ring_peek(&hatch->events);
    if (!oldest)
        return false;
    *event = *oldest;
    ring_done(&hatch->events);
    return true;
}

void hatch_stop(struct hatch *hatch)
{
    put_simple(hatch, &(struct command){.kind = COMMAND_STOP});
    CHECK(pthread_join(hatch->thread, NULL) == 0);
    CHECK(pthread_mutex_destroy(&hatch->mutex) == 0);
    CHECK(pthread_cond_destroy(&hatch->woken) == 0);
}

struct hatch_used hatch_used(const struct hatch *hatch)
{
    return hatch->used;
}
