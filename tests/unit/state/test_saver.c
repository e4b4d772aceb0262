/* The saver's thread beside a learner that continues. Each file is complete, or the saver reports
 * why not. Also run under ThreadSanitizer. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "node/broadcast/history.h"
#include "state/averaged_base.h"
#include "state/saver.h"

#define ENTRIES    500
#define PART       100
#define HISTORY    HISTORY_ENTRY_BYTES
#define LINE       "dense 8, relu, dense 10"
#define ROUNDS_MAX 100000
#define P_MAX      8000

static struct arena arena;
static struct backend *backend;
static struct model *model;
static struct learner *learner;
static struct saver *saver;
static char folder[64];

static struct publish_terms terms = {.budget_bytes = 400, .share = 0.25, .gain = 1, .beta = 0.3};

static struct bell {
    pthread_mutex_t mutex;
    pthread_cond_t rung;
    uint64_t count;
} bell = {.mutex = PTHREAD_MUTEX_INITIALIZER, .rung = PTHREAD_COND_INITIALIZER};

static void ring_bell(void *waker)
{
    assert_ptr_equal(waker, &bell);
    (void)pthread_mutex_lock(&bell.mutex);
    bell.count++;
    (void)pthread_cond_signal(&bell.rung);
    (void)pthread_mutex_unlock(&bell.mutex);
}

static uint64_t rings(void)
{
    (void)pthread_mutex_lock(&bell.mutex);
    const uint64_t count = bell.count;
    (void)pthread_mutex_unlock(&bell.mutex);
    return count;
}

static void wait_for_bell(uint64_t before)
{
    (void)pthread_mutex_lock(&bell.mutex);
    while (bell.count == before)
        (void)pthread_cond_wait(&bell.rung, &bell.mutex);
    (void)pthread_mutex_unlock(&bell.mutex);
}

/* A disk whose writes wait while it is stopped. */
static struct slow {
    struct disk disk;
    pthread_mutex_t mutex;
    pthread_cond_t moved;
    bool stands;
    bool is_full;
} slow = {.mutex = PTHREAD_MUTEX_INITIALIZER, .moved = PTHREAD_COND_INITIALIZER};

static int64_t slow_write(void *self, int handle, const void *from, size_t bytes)
{
    (void)self;
    (void)pthread_mutex_lock(&slow.mutex);
    while (slow.stands)
        (void)pthread_cond_wait(&slow.moved, &slow.mutex);
    const bool is_full = slow.is_full;
    (void)pthread_mutex_unlock(&slow.mutex);
    return is_full ? -ENOSPC : disk_real()->write(disk_real()->self, handle, from, bytes);
}

static void let_disk(bool stand, bool be_full)
{
    (void)pthread_mutex_lock(&slow.mutex);
    slow.stands = stand;
    slow.is_full = be_full;
    (void)pthread_cond_broadcast(&slow.moved);
    (void)pthread_mutex_unlock(&slow.mutex);
}

static struct learner *learner_new_of(uint64_t node)
{
    const struct dataset_options data = {
        .source = DATASET_GENERATED, .seed = 1, .train_count = 100, .test_count = 10, .shards = 1};
    const struct learner_options options = {.optimizer = {.sgd = {.rate = 0.05f, .momentum = 0.9f}},
                                            .batch = 10,
                                            .model_seed = 1,
                                            .data_node = node,
                                            .density_max = ENTRIES,
                                            .averages = true};
    struct dataset train;
    struct problem problem;
    assert_int_equal(dataset_load_train(&train, &data, &problem), OK);
    if (!model)
        assert_int_equal(
            model_new(&model, &arena, backend, LINE, train.shape, train.classes, 10, &problem), OK);
    struct learner *made = learner_new(&arena, backend, model, &train, NULL, &options);
    dataset_free(&train);
    return made;
}

static struct saver *open_saver(void)
{
    struct saver_options options = {.disk = &slow.disk,
                                    .folder = folder,
                                    .model = "of a test",
                                    .base = {.model = model, .about = {.classes = 10, .scale = 1}},
                                    .parameters = learner_parameters(learner),
                                    .moments = learner_moments(learner),
                                    .part_parameters = PART,
                                    .entries = ENTRIES,
                                    .averages = true,
                                    .wake = ring_bell,
                                    .waker = &bell};
    export_path(options.base.path, folder);
    return saver_new(&options);
}

static int begin(void **state)
{
    (void)state;
    (void)snprintf(folder, sizeof folder, "/tmp/hearsay-saver-XXXXXX");
    assert_non_null(mkdtemp(folder));
    slow.disk = *disk_real();
    slow.disk.write = slow_write;
    slow.stands = slow.is_full = false;
    arena_init(&arena, (size_t)64 << 20);
    backend = backend_cpu(1);
    model = NULL;
    learner = learner_new_of(1);
    saver = open_saver();
    return 0;
}

static void remove_one(void *context, const char *name)
{
    char path[DISK_PATH_MAX];
    (void)context;
    if (disk_path(path, folder, name, "") == 0)
        (void)unlink(path);
}

static int end(void **state)
{
    (void)state;
    saver_free(saver);
    learner_free(learner);
    model_free(model);
    backend->close(backend);
    arena_release(&arena);
    (void)disk_real()->list(NULL, folder, remove_one, NULL);
    return rmdir(folder);
}

static float taken_average[P_MAX]; /* averaged base from the parts of the last save */

static void take(void *self, struct learner_state *part)
{
    learner_save(self, part);
    assert_true(part->first + part->parameters <= P_MAX);
    if (part->average_samples > 0)
        memcpy(taken_average + part->first, part->average, part->parameters * sizeof(float));
}

/* Publishes an update and records it in the queue, as the executor does. */
static void publish(void)
{
    terms.swarm_samples = learner_swarm_samples(learner);
    const struct update *update = learner_publish(learner, &terms);
    snapshot_note_update(saver_queue(saver), SNAPSHOT_OWN, update, (float)terms.beta);
}

/* Copies all parts that the saver requests, with a step and a publication in between. */
static enum saver_taken take_all(void)
{
    for (;;) {
        const uint64_t before = rings();
        size_t first;
        if (!saver_next(saver, &first)) {
            wait_for_bell(before);
            continue;
        }
        const size_t taken_now = snapshot_take(saver_queue(saver), first, take, learner);
        const enum saver_taken taken = saver_on_taken(saver, taken_now);
        if (taken != SAVER_MORE)
            return taken;
        (void)learner_step(learner);
        publish();
    }
}

static struct saver_result result_of_save(void)
{
    struct saver_result result;
    for (;;) {
        const uint64_t before = rings();
        if (saver_took(saver, &result))
            return result;
        wait_for_bell(before);
    }
}

static void no_refusal(void *context, const struct problem *problem)
{
    (void)context;
    fail_msg("%s", problem->text);
}

/* Checks that a restarted node loads this generation, with a base of this digest; 0 = none. */
static void must_load(uint64_t generation, uint64_t digest)
{
    const struct checkpoint_refusal refusal = {NULL, no_refusal};
    struct learner *other = learner_new_of(1);
    struct saver *next = open_saver();
    struct problem problem;
    const uint8_t *own;
    size_t own_bytes;
    if (generation == 0) {
        assert_int_equal(saver_load(next, other, &refusal, &own, &own_bytes, &problem), MISSING);
    } else {
        assert_int_equal(saver_load(next, other, &refusal, &own, &own_bytes, &problem), OK);
        assert_int_equal(saver_generation(next), generation);
        assert_int_equal(own_bytes, HISTORY);
        assert_true(learner_digest(other) == digest);
        assert_int_equal(learner_samples(other) % 10, 0);
        (void)learner_step(other);
    }
    saver_free(next);
    learner_free(other);
}

static void begin_series(void)
{
    const struct checkpoint_refusal refusal = {NULL, no_refusal};
    struct problem problem;
    const uint8_t *own;
    size_t own_bytes;
    assert_int_equal(saver_load(saver, learner, &refusal, &own, &own_bytes, &problem), MISSING);
}

static uint64_t end_save(void)
{
    const uint64_t digest = learner_digest(learner);
    memset(saver_own(saver), 3, HISTORY);
    saver_end(saver, HISTORY, 1, NULL);
    return digest;
}

static void a_save_during_training_loads_the_base_of_its_end(void **state)
{
    (void)state;
    begin_series();
    for (uint64_t generation = 1; generation <= 3; generation++) {
        (void)learner_step(learner);
        publish();
        saver_begin(saver);
        assert_int_equal(take_all(), SAVER_WHOLE);
        const uint64_t digest = end_save();
        (void)learner_step(learner);
        publish(); /* too late to be part of the checkpoint */
        const struct saver_result result = result_of_save();
        assert_int_equal(result.error, OK);
        assert_true(result.has_checkpoint);
        assert_false(saver_is_busy(saver));
        must_load(generation, digest);
    }
    char base[BASE_PATH_BYTES];
    export_path(base, folder);
    assert_int_equal(access(base, R_OK), 0);
}

static void while_the_disk_stands_still_nobody_waits_and_the_save_is_abandoned(void **state)
{
    (void)state;
    size_t first;
    begin_series();
    saver_begin(saver);
    assert_true(saver_next(saver, &first));
    assert_false(saver_next(saver, &first)); /* only one part at a time */
    let_disk(true, false);
    size_t taken = snapshot_take(saver_queue(saver), first, take, learner);
    assert_int_equal(saver_on_taken(saver, taken), SAVER_MORE);
    int rounds = 0; /* rounds until the queue is full */
    for (; !saver_queue(saver)->is_broken && rounds < ROUNDS_MAX; rounds++) {
        (void)learner_step(learner);
        publish();
    }
    assert_true(rounds < ROUNDS_MAX);
    let_disk(false, false);
    uint64_t before = rings();
    while (!saver_next(saver, &first)) {
        wait_for_bell(before);
        before = rings();
    }
    taken = snapshot_take(saver_queue(saver), first, take, learner);
    assert_int_equal(saver_on_taken(saver, taken), SAVER_BROKEN);
    saver_abandon(saver, true);
    const struct saver_result result = result_of_save();
    assert_false(result.has_checkpoint);
    assert_non_null(strstr(result.problem.text, "abandoned because the disk writes slower"));
    must_load(0, 0);
    saver_begin(saver); /* the next save must be complete */
    assert_int_equal(take_all(), SAVER_WHOLE);
    const uint64_t digest = end_save();
    assert_int_equal(result_of_save().error, OK);
    must_load(2, digest);
}

static void a_full_disk_is_told_of_and_what_was_saved_before_stays(void **state)
{
    (void)state;
    begin_series();
    saver_begin(saver);
    assert_int_equal(take_all(), SAVER_WHOLE);
    const uint64_t digest = end_save();
    assert_int_equal(result_of_save().error, OK);
    let_disk(false, true);
    saver_begin(saver);
    assert_int_equal(take_all(), SAVER_WHOLE);
    (void)end_save();
    const struct saver_result result = result_of_save();
    assert_int_equal(result.error, FAILED);
    assert_false(result.has_checkpoint);
    assert_non_null(strstr(result.problem.text, strerror(ENOSPC)));
    must_load(1, digest);
}

static size_t fill(void *context, uint8_t *own)
{
    memset(own, *(const int *)context, HISTORY);
    return HISTORY;
}

static void must_have_average(uint64_t samples)
{
    struct problem problem;
    struct learner *other = learner_new_of(1);
    learner_follow(other, samples);
    assert_int_equal(averaged_base_load(folder, other, &problem), OK);
    assert_memory_equal(learner_average(other), learner_average(learner),
                        learner_parameters(learner) * sizeof(float));
    learner_free(other);
}

static void the_averaged_base_is_saved_beside_the_base(void **state)
{
    (void)state;
    const int byte = 5;
    struct problem problem;
    begin_series();
    for (int i = 0; i < 20; i++) {
        (void)learner_step(learner);
        publish();
    }
    assert_int_equal(saver_save(saver, learner, 1, NULL, fill, (void *)(uintptr_t)&byte, &problem),
                     OK);
    must_have_average(200);
    for (int i = 0; i < 5; i++) { /* saves again while the learner continues */
        (void)learner_step(learner);
        publish();
    }
    saver_begin(saver);
    assert_int_equal(take_all(), SAVER_WHOLE);
    (void)end_save();
    assert_int_equal(result_of_save().error, OK);
    struct learner *other = learner_new_of(1);
    learner_follow(other, learner_swarm_samples(learner));
    assert_int_equal(averaged_base_load(folder, other, &problem), OK);
    assert_memory_equal(learner_average(other), taken_average,
                        learner_parameters(learner) * sizeof(float));
    learner_free(other);
}

static void an_average_that_a_part_lacks_is_not_saved(void **state)
{
    (void)state;
    size_t first;
    begin_series();
    saver_begin(saver);
    assert_true(saver_next(saver, &first));
    const size_t taken = snapshot_take(saver_queue(saver), first, take, learner);
    assert_int_equal(saver_on_taken(saver, taken), SAVER_MORE);
    (void)learner_step(learner);
    publish(); /* from here on the learner has an average */
    const uint64_t before = rings();
    if (!snapshot_has_room(saver_queue(saver)))
        wait_for_bell(before);
    assert_int_equal(take_all(), SAVER_WHOLE);
    (void)end_save();
    assert_int_equal(result_of_save().error, OK);
    char path[BASE_PATH_BYTES];
    averaged_base_path(path, folder);
    assert_int_equal(access(path, F_OK), -1);
}

/* At a node's end all state is saved at once. A save in progress is abandoned. */
static void at_the_end_everything_is_saved_in_place_of_what_was_under_way(void **state)
{
    (void)state;
    const int byte = 5;
    struct problem problem;
    size_t first;
    begin_series();
    saver_begin(saver);
    assert_true(saver_next(saver, &first));
    assert_int_equal(snapshot_take(saver_queue(saver), first, take, learner), PART);
    (void)learner_step(learner);
    publish();
    assert_int_equal(saver_save(saver, learner, 1, NULL, fill, (void *)(uintptr_t)&byte, &problem),
                     OK);
    must_load(2, learner_digest(learner));
    saver_begin(saver); /* freeing the saver abandons a save in progress */
    assert_true(saver_next(saver, &first));
    assert_int_equal(snapshot_take(saver_queue(saver), first, take, learner), PART);
    saver_free(saver);
    must_load(2, learner_digest(learner));
    saver = open_saver();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_save_during_training_loads_the_base_of_its_end),
        TEST(while_the_disk_stands_still_nobody_waits_and_the_save_is_abandoned),
        TEST(a_full_disk_is_told_of_and_what_was_saved_before_stays),
        TEST(the_averaged_base_is_saved_beside_the_base),
        TEST(an_average_that_a_part_lacks_is_not_saved),
        TEST(at_the_end_everything_is_saved_in_place_of_what_was_under_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
