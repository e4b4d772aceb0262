#include "state/saver.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "state/disk.h"

#define LARGE_PAGE ((size_t)2 << 20)

struct saver {
    struct saver_options options;    /* as given */
    void *memory;                    /* of the state's vectors */
    struct checkpoint checkpoint;    /* what is written, and was loaded */
    struct checkpoint_series series; /* where the next save stands */

    bool is_running;       /* there is a thread, not yet joined */
    pthread_t thread;      /* touches the memory, or writes the checkpoint and the base */
    atomic_bool has_ended; /* set by the thread: its result is in saved */
    struct saved saved;    /* how the save has ended */
};

/* In large pages, if the system has them: the learner waits while they are written. */
static void *take(size_t bytes)
{
    const size_t whole = (bytes + LARGE_PAGE - 1) & ~(LARGE_PAGE - 1);
    void *memory = bytes < LARGE_PAGE ? malloc(bytes) : aligned_alloc(LARGE_PAGE, whole);
    CHECK(memory);
    if (bytes >= LARGE_PAGE)
        (void)madvise(memory, whole, MADV_HUGEPAGE);
    return memory;
}

struct saver *saver_new(const struct saver_options *options)
{
    struct saver *saver = calloc(1, sizeof *saver);
    CHECK(saver && options->own_max <= CHECKPOINT_OWN_MAX);
    saver->options = *options;
    saver->memory = take(learner_state_bytes(options->parameters, options->moments));
    saver->checkpoint.model = options->model;
    saver->checkpoint.own = malloc(CHECKPOINT_OWN_MAX);
    CHECK(saver->checkpoint.own);
    learner_state_init(&saver->checkpoint.state, saver->memory, options->parameters,
                       options->moments);
    atomic_init(&saver->has_ended, false);
    return saver;
}

enum error saver_load(struct saver *saver, struct learner *learner,
                      const struct checkpoint_refusal *refusal, const uint8_t **own,
                      size_t *own_bytes, struct problem *problem)
{
    const enum error error = checkpoint_load(disk_real(), saver->options.folder, &saver->checkpoint,
                                             &saver->series, refusal, problem);
    if (error != OK)
        return error;
    learner_restore(learner, &saver->checkpoint.state);
    *own = saver->checkpoint.own;
    *own_bytes = saver->checkpoint.own_bytes;
    return OK;
}

uint64_t saver_generation(const struct saver *saver)
{
    CHECK(!saver->is_running);
    return saver->series.good;
}

bool saver_is_busy(const struct saver *saver)
{
    return saver->is_running;
}

struct learner_state *saver_state(struct saver *saver)
{
    CHECK(!saver->is_running);
    return &saver->checkpoint.state;
}

uint8_t *saver_own(struct saver *saver)
{
    CHECK(!saver->is_running);
    return saver->checkpoint.own;
}

static void end(struct saver *saver)
{
    atomic_store(&saver->has_ended, true);
    saver->options.wake(saver->options.waker);
}

static void *touch_thread(void *argument)
{
    struct saver *saver = argument;
    CHECK(saver->is_running);
    memset(saver->memory, 0,
           learner_state_bytes(saver->options.parameters, saver->options.moments));
    saver->saved = (struct saved){.error = OK};
    end(saver);
    return NULL;
}

static void *write_thread(void *argument)
{
    struct saver *saver = argument;
    struct checkpoint *checkpoint = &saver->checkpoint;
    struct saved *saved = &saver->saved;
    CHECK(saver->is_running);
    saved->error = checkpoint_save(disk_real(), saver->options.folder, checkpoint, &saver->series,
                                   &saved->problem);
    saved->has_checkpoint = saved->error == OK;
    if (saved->has_checkpoint)
        saved->error = export_save(&saver->options.base, &checkpoint->state, checkpoint->own,
                                   checkpoint->own_bytes, &saved->problem);
    end(saver);
    return NULL;
}

static void begin(struct saver *saver, void *(*run)(void *))
{
    CHECK(!saver->is_running);
    atomic_store(&saver->has_ended, false);
    saver->is_running = true;
    CHECK(pthread_create(&saver->thread, NULL, run, saver) == 0);
}

void saver_touch(struct saver *saver)
{
    begin(saver, touch_thread);
}

void saver_write(struct saver *saver, size_t own_bytes, uint64_t incarnation)
{
    CHECK(!saver->is_running && own_bytes <= CHECKPOINT_OWN_MAX);
    saver->checkpoint.own_bytes = own_bytes;
    saver->checkpoint.incarnation = incarnation;
    begin(saver, write_thread);
}

static void join(struct saver *saver)
{
    CHECK(saver->is_running);
    CHECK(pthread_join(saver->thread, NULL) == 0);
    saver->is_running = false;
}

bool saver_took(struct saver *saver, struct saved *saved)
{
    if (!saver->is_running || !atomic_load(&saver->has_ended))
        return false;
    join(saver);
    *saved = saver->saved;
    return true;
}

enum error saver_wait(struct saver *saver, struct problem *problem)
{
    if (!saver->is_running)
        return OK;
    join(saver);
    *problem = saver->saved.problem;
    return saver->saved.error;
}

void saver_free(struct saver *saver)
{
    if (!saver)
        return;
    if (saver->is_running)
        join(saver);
    free(saver->memory);
    free(saver->checkpoint.own);
    free(saver);
}
