#include "state/saver.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/memory.h"
#include "base/thread.h"
#include "state/averaged_base.h"
#include "state/checkpoint_owner.h"
#include "state/incarnation.h"
#include "state/older_bases.h"

/* GOES_ON = not decided yet */
enum verdict { GOES_ON, ENDS, ABANDONED, TOO_SLOW };

struct saver {
    struct saver_options options;
    struct arena arena;
    struct snapshot_queue queue;
    /* the loaded checkpoint; during a save, the checkpoint being written */
    struct checkpoint checkpoint;
    struct checkpoint_series series;
    struct checkpoint_writer writer;

    /* the owner's text if has_taken_first */
    char model[CHECKPOINT_OWNER_MAX];

    bool is_running;       /* `thread` was started and not joined yet */
    bool is_asked;         /* the learner was asked for a part and has not answered yet */
    size_t taken;          /* parameters in the parts that the learner has copied */
    pthread_t thread;      /* writes the checkpoint and the base */
    pthread_mutex_t mutex; /* used only to wait for `moved` and to signal it */
    /* signalled when the queue has a new record or new space, or the verdict was set */
    pthread_cond_t moved;
    _Atomic(int) verdict; /* an enum verdict, set once per save by the loop's thread */
    /* [P] the base that `thread` writes; only `thread` uses units, mean and lacks_mean */
    int32_t *units;
    /* [P] the averaged base; NULL = no part had it */
    float *mean;
    bool lacks_mean;       /* some part had no averaged base */
    atomic_bool has_ended; /* `thread` has set the result and ends */
    /* Score of the saved base if it becomes the best one; samples 0 = it does not. */
    struct evaluation score;
    struct saver_result result;
};

static size_t queue_bytes(const struct saver_options *options)
{
    const size_t average_bytes =
        options->averages ? snapshot_average_bytes(options->part_parameters) : 0;
    return snapshot_queue_bytes(options->part_parameters, options->moments, options->entries) +
           average_bytes;
}

size_t saver_queue_bytes(const struct saver_options *options)
{
    return queue_bytes(options);
}

size_t saver_base_bytes(const struct saver_options *options)
{
    return options->parameters * (sizeof(int32_t) + (options->averages ? sizeof(float) : 0));
}

/* Makes a waiting thread check its condition again. Any thread may call it. */
static void move(void *waker)
{
    struct saver *saver = waker;
    CHECK(pthread_mutex_lock(&saver->mutex) == 0);
    CHECK(pthread_cond_broadcast(&saver->moved) == 0);
    CHECK(pthread_mutex_unlock(&saver->mutex) == 0);
}

struct saver *saver_new(const struct saver_options *options)
{
    struct saver *saver = memory_new(1, sizeof *saver);
    CHECK(options->wake);
    saver->options = *options;
    saver->options.averages &= options->base.model != NULL;
    arena_init(&saver->arena, queue_bytes(&saver->options));
    snapshot_queue_init(&saver->queue, &saver->arena, options->parameters, options->part_parameters,
                        options->moments, options->entries);
    if (saver->options.averages)
        snapshot_take_average(&saver->queue, &saver->arena);
    saver->queue.wake = move;
    saver->queue.waker = saver;
    saver->checkpoint.model = options->model;
    saver->checkpoint.own = memory_new(CHECKPOINT_OWN_MAX, 1);
    saver->checkpoint.state.parameters = options->parameters;
    saver->checkpoint.state.moments = options->moments;
    atomic_init(&saver->verdict, GOES_ON);
    atomic_init(&saver->has_ended, false);
    CHECK(pthread_mutex_init(&saver->mutex, NULL) == 0);
    CHECK(pthread_cond_init(&saver->moved, NULL) == 0);
    return saver;
}

static void replay(void *learner, const struct snapshot_record *record)
{
    learner_replay(learner, record);
}

enum error saver_load(struct saver *saver, struct learner *learner,
                      const struct checkpoint_refusal *refusal, const uint8_t **own,
                      size_t *own_bytes, struct problem *problem)
{
    const struct checkpoint_target target = {.self = learner, .replay = replay};
    struct checkpoint *checkpoint = &saver->checkpoint;
    const enum error error = checkpoint_load(saver->options.disk, saver->options.folder, checkpoint,
                                             &target, &saver->series, refusal, problem);
    if (error != OK)
        return error;
    struct learner_state numbers = checkpoint->state;
    numbers.parameters = 0;
    learner_restore(learner, &numbers);
    *own = checkpoint->own;
    *own_bytes = checkpoint->own_bytes;
    if (learner_digest(learner) != checkpoint->digest)
        return problem_set(
            problem, FAILED,
            "the base in %.300s differs from the saved one: a defect or broken memory",
            saver->options.folder);
    return OK;
}

const uint8_t *saver_model_hash(const struct saver *saver)
{
    return saver->checkpoint.has_taken_first ? saver->checkpoint.model_hash : NULL;
}

void saver_set_model_hash(struct saver *saver, const uint8_t model_hash[static 16])
{
    memcpy(saver->checkpoint.model_hash, model_hash, sizeof saver->checkpoint.model_hash);
    saver->checkpoint.has_taken_first = true;
}

uint64_t saver_generation(const struct saver *saver)
{
    CHECK(!saver->is_running);
    return saver->series.good;
}

struct snapshot_queue *saver_queue(struct saver *saver)
{
    return &saver->queue;
}

bool saver_is_busy(const struct saver *saver)
{
    return saver->is_running;
}

/* The functions below run on the saver's thread. */

static void keep_mean(struct saver *saver, const struct learner_state *part)
{
    if (!saver->mean)
        saver->mean = memory_new(saver->options.parameters, sizeof *saver->mean);
    memcpy(saver->mean + part->first, part->average, part->parameters * sizeof *part->average);
}

static void keep_part(struct saver *saver, const struct learner_state *part)
{
    struct learner_state *numbers = &saver->checkpoint.state;
    memcpy(saver->units + part->first, part->base, part->parameters * sizeof *part->base);
    /* The checkpoint stores the steps, samples and other numbers of its last part. */
    *numbers = *part;
    numbers->parameters = saver->options.parameters;
    if (part->average_samples > 0)
        keep_mean(saver, part);
    else
        saver->lacks_mean = true;
}

/* Adds an update to the copy of the base, modulo 2^32. */
static void keep_update(struct saver *saver, const struct update *update)
{
    for (uint32_t i = 0; i < update->count; i++) {
        uint32_t units;
        int32_t *entry = &saver->units[update->index[i]];
        memcpy(&units, entry, sizeof units);
        const int level = update->level[i];
        units += update->amount * (uint32_t)level;
        memcpy(entry, &units, sizeof units);
    }
}

static void write_record(struct saver *saver, const struct snapshot_record *record)
{
    checkpoint_put(&saver->writer, record);
    if (record->kind == SNAPSHOT_PART)
        keep_part(saver, &record->part);
    else
        keep_update(saver, &record->update);
}

/* Waits for the next record; NULL if there is a verdict and the queue is empty. */
static const struct snapshot_record *next_record(struct saver *saver)
{
    const struct snapshot_record *record;
    CHECK(pthread_mutex_lock(&saver->mutex) == 0);
    for (;;) {
        /* read before the queue, because it is set after the last record was queued */
        const int verdict = atomic_load(&saver->verdict);
        record = snapshot_next(&saver->queue);
        if (record || verdict != GOES_ON)
            break;
        CHECK(pthread_cond_wait(&saver->moved, &saver->mutex) == 0);
    }
    CHECK(pthread_mutex_unlock(&saver->mutex) == 0);
    return record;
}

static void write_records(struct saver *saver)
{
    for (const struct snapshot_record *record; (record = next_record(saver));) {
        const bool is_part = record->kind == SNAPSHOT_PART;
        if (atomic_load(&saver->verdict) < ABANDONED)
            write_record(saver, record);
        snapshot_done(&saver->queue);
        if (!is_part)
            continue;
        move(saver);
        saver->options.wake(saver->options.waker);
    }
}

static enum error keep_best(struct saver *saver, struct problem *problem)
{
    const struct best_base best = {.score = saver->score,
                                   .digest = saver->checkpoint.digest,
                                   .saved_s = incarnation_wall_ms() / 1000};
    if (best.score.samples == 0)
        return OK;
    const enum error error =
        best_base_keep(saver->options.disk, saver->options.folder, &best, problem);
    saver->result.is_best = error == OK;
    saver->result.score = best.score;
    return error;
}

/* An average that began during this save is saved with the next one. */
static enum error save_mean(struct saver *saver, struct problem *problem)
{
    if (!saver->mean || saver->lacks_mean)
        return OK;
    return averaged_base_save(&saver->options.base, saver->options.folder, saver->mean,
                              saver->checkpoint.state.average_samples, problem);
}

static void write_end(struct saver *saver)
{
    struct checkpoint *checkpoint = &saver->checkpoint;
    struct saver_result *result = &saver->result;
    result->error = checkpoint_end(&saver->writer, checkpoint, &saver->series, &result->problem);
    result->has_checkpoint = result->error == OK;
    if (result->has_checkpoint && !saver->options.base.model)
        return;
    if (result->has_checkpoint)
        result->error = export_save(&saver->options.base, saver->units, checkpoint->digest,
                                    checkpoint->own, checkpoint->own_bytes, &result->problem);
    if (result->error == OK)
        result->error = older_bases_keep(saver->options.disk, saver->options.folder,
                                         incarnation_wall_ms() / 1000, saver->options.older_bases,
                                         &result->problem);
    if (result->error == OK)
        result->error = keep_best(saver, &result->problem);
    if (result->error == OK)
        result->error = save_mean(saver, &result->problem);
}

static void abandon(struct saver *saver)
{
    checkpoint_abandon(&saver->writer);
    if (atomic_load(&saver->verdict) == TOO_SLOW)
        saver->result.error = problem_set(
            &saver->result.problem, FAILED,
            "%.300s: a checkpoint was abandoned because the disk writes slower than rumors arrive; "
            "older checkpoints stay valid, and the node tries again at the next node.save_s",
            saver->options.folder);
}

/* Wake-ups of a SCHED_BATCH thread do not preempt the learner. */
static void give_way(void)
{
    const struct sched_param none = {0};
    (void)pthread_setschedparam(pthread_self(), SCHED_BATCH, &none);
}

static void *run(void *argument)
{
    struct saver *saver = argument;
    give_way();
    saver->result = (struct saver_result){.error = OK};
    saver->units = memory_new(saver->options.parameters, sizeof *saver->units);
    saver->mean = NULL;
    saver->lacks_mean = false;
    checkpoint_begin(&saver->writer, saver->options.disk, saver->options.folder, &saver->checkpoint,
                     saver->options.part_parameters, &saver->series);
    write_records(saver);
    if (atomic_load(&saver->verdict) == ENDS)
        write_end(saver);
    else
        abandon(saver);
    free(saver->units);
    free(saver->mean);
    atomic_store(&saver->has_ended, true);
    saver->options.wake(saver->options.waker);
    return NULL;
}

/* The functions below run on the loop's thread. */

void saver_begin(struct saver *saver)
{
    CHECK(!saver->is_running && !snapshot_next(&saver->queue));
    if (saver->checkpoint.has_taken_first) {
        checkpoint_owner_of_swarm(saver->model, saver->options.model, saver->checkpoint.model_hash);
        saver->checkpoint.model = saver->model;
    }
    atomic_store(&saver->verdict, GOES_ON);
    atomic_store(&saver->has_ended, false);
    saver->taken = 0;
    saver->is_asked = false;
    saver->is_running = true;
    thread_begin(&saver->thread, run, saver);
}

bool saver_next(struct saver *saver, size_t *first)
{
    if (!saver->is_running || saver->is_asked || atomic_load(&saver->verdict) != GOES_ON ||
        saver->taken == saver->options.parameters || !snapshot_has_room(&saver->queue))
        return false;
    saver->is_asked = true;
    *first = saver->taken;
    return true;
}

enum saver_taken saver_on_taken(struct saver *saver, size_t entries)
{
    CHECK(saver->is_running && saver->is_asked);
    CHECK(entries <= saver->options.parameters - saver->taken);
    saver->is_asked = false;
    saver->taken += entries;
    if (entries == 0)
        return SAVER_BROKEN;
    return saver->taken == saver->options.parameters ? SAVER_WHOLE : SAVER_MORE;
}

uint8_t *saver_own(struct saver *saver)
{
    CHECK(!saver->is_running || atomic_load(&saver->verdict) == GOES_ON);
    return saver->checkpoint.own;
}

static void give_verdict(struct saver *saver, enum verdict verdict)
{
    CHECK(saver->is_running && atomic_load(&saver->verdict) == GOES_ON && verdict != GOES_ON);
    atomic_store(&saver->verdict, verdict);
    move(saver);
}

void saver_end(struct saver *saver, size_t own_bytes, uint64_t incarnation,
               const struct evaluation *score)
{
    CHECK(saver->taken == saver->options.parameters && own_bytes <= CHECKPOINT_OWN_MAX);
    saver->checkpoint.own_bytes = own_bytes;
    saver->checkpoint.incarnation = incarnation;
    saver->score = score ? *score : (struct evaluation){.samples = 0};
    give_verdict(saver, ENDS);
}

void saver_abandon(struct saver *saver, bool is_slow)
{
    give_verdict(saver, is_slow ? TOO_SLOW : ABANDONED);
}

static void join(struct saver *saver)
{
    CHECK(saver->is_running);
    CHECK(pthread_join(saver->thread, NULL) == 0);
    saver->is_running = false;
}

bool saver_took(struct saver *saver, struct saver_result *result)
{
    if (!saver->is_running || !atomic_load(&saver->has_ended))
        return false;
    join(saver);
    *result = saver->result;
    return true;
}

/* Waits until the save under way has ended. Abandons it first if it still needs parts or the
 * history. */
static void stop(struct saver *saver)
{
    if (!saver->is_running)
        return;
    if (atomic_load(&saver->verdict) == GOES_ON)
        saver_abandon(saver, false);
    join(saver);
}

static void wait_for_room(struct saver *saver)
{
    CHECK(pthread_mutex_lock(&saver->mutex) == 0);
    while (!snapshot_has_room(&saver->queue))
        CHECK(pthread_cond_wait(&saver->moved, &saver->mutex) == 0);
    CHECK(pthread_mutex_unlock(&saver->mutex) == 0);
}

static void save_part(void *learner, struct learner_state *part)
{
    learner_save(learner, part);
}

enum error saver_save(struct saver *saver, struct learner *learner, uint64_t incarnation,
                      const struct evaluation *score, size_t (*fill)(void *context, uint8_t *own),
                      void *context, struct problem *problem)
{
    size_t first;
    stop(saver);
    saver_begin(saver);
    while (saver_next(saver, &first)) {
        (void)saver_on_taken(saver, snapshot_take(&saver->queue, first, save_part, learner));
        wait_for_room(saver);
    }
    saver_end(saver, fill(context, saver_own(saver)), incarnation, score);
    join(saver);
    *problem = saver->result.problem;
    return saver->result.error;
}

void saver_free(struct saver *saver)
{
    if (!saver)
        return;
    stop(saver);
    arena_release(&saver->arena);
    CHECK(pthread_mutex_destroy(&saver->mutex) == 0);
    CHECK(pthread_cond_destroy(&saver->moved) == 0);
    free(saver->checkpoint.own);
    free(saver);
}
