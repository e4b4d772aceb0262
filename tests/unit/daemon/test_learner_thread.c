/* The learner's thread and the thread that gives it orders. Also run under ThreadSanitizer. */
#include <math.h>
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

#include "base/digest.h"
#include "base/error.h"
#include "daemon/learner_thread.h"

#define ARENA_BYTES  ((size_t)64 << 20)
#define APPLY_WINDOW 1000

static struct arena arena;

static int arena_stop(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

static struct backend *backend;
static struct model *model;
static struct learner *learner;
static struct learner_thread *worker;

/* A bell that the learner's thread rings for each event. */
static struct bell {
    pthread_mutex_t mutex;
    pthread_cond_t rung;
    uint64_t count;
    pid_t thread;
} bell = {.mutex = PTHREAD_MUTEX_INITIALIZER, .rung = PTHREAD_COND_INITIALIZER};

static void ring_bell(void *waker)
{
    assert_ptr_equal(waker, &bell);
    (void)pthread_mutex_lock(&bell.mutex);
    bell.count++;
    bell.thread = gettid();
    (void)pthread_cond_signal(&bell.rung);
    (void)pthread_mutex_unlock(&bell.mutex);
}

static struct learner_event next_event(void)
{
    for (;;) {
        struct learner_event event;
        (void)pthread_mutex_lock(&bell.mutex);
        const uint64_t before = bell.count;
        (void)pthread_mutex_unlock(&bell.mutex);
        if (learner_link_next(learner_thread_link(worker), &event))
            return event;
        (void)pthread_mutex_lock(&bell.mutex);
        while (bell.count == before)
            (void)pthread_cond_wait(&bell.rung, &bell.mutex);
        (void)pthread_mutex_unlock(&bell.mutex);
    }
}

#define assert_answers(event, order) assert_int_equal((event).answer.to, order)

static struct learner_event next_answer(void)
{
    struct learner_event event;
    do
        event = next_event();
    while (event.kind == LEARNER_STEPPED);
    return event;
}

static struct learner *learner_of_xor(void)
{
    const struct dataset_options data_options = {.source = DATASET_XOR, .shards = 1};
    struct learner_options options = {
        .optimizer = {.sgd = {.rate = 0.05f, .momentum = 0.9f}},
        .batch = 4,
        .model_seed = 1,
        .data_seed = 1,
    };
    struct dataset train, test;
    struct problem problem;
    assert_int_equal(dataset_load_train(&train, &data_options, &problem), OK);
    assert_int_equal(dataset_load_test(&test, &data_options, &problem), OK);
    test.mean = train.mean;
    test.scale = train.scale;
    assert_int_equal(model_new(&model, &arena, backend, model_preset("xor"), train.shape,
                               train.classes, 4, &problem),
                     OK);
    options.test_to = test.count;
    options.density_max = (uint32_t)model_parameters(model) / 2;
    struct learner *made = learner_new(&arena, backend, model, &train, &test, &options);
    dataset_free(&train);
    dataset_free(&test);
    return made;
}

static int learner_start(void **state)
{
    (void)state;
    arena_init(&arena, ARENA_BYTES);
    backend = backend_cpu(1);
    learner = learner_of_xor();
    return 0;
}

static int learner_stop(void **state)
{
    learner_free(learner);
    model_free(model);
    backend->close(backend);
    return arena_stop(state);
}

static void open_thread(bool train, uint64_t samples_max)
{
    const struct learner_thread_options options = {.samples_max = samples_max,
                                                   .apply_window = APPLY_WINDOW,
                                                   .wake = ring_bell,
                                                   .waker = &bell};
    assert_true(learner_thread_arena_bytes(&options) < ARENA_BYTES / 2);
    worker = learner_thread_new(&arena, learner, &options);
    if (train)
        learner_link_order(learner_thread_link(worker), &(struct action){.kind = ACTION_TRAIN});
}

/* Entries of an update. */
static const uint32_t indexes[] = {0, 3, 7, 20};
static const int8_t levels[] = {1, -2, 127, -127};

static struct update update_of(uint32_t count, uint32_t amount)
{
    return (struct update){.tau = 0.001f,
                           .amount = amount,
                           .count = count,
                           .index = (uint32_t *)(uintptr_t)indexes,
                           .level = (int8_t *)(uintptr_t)levels};
}

static const struct publish_terms whole = {.budget_bytes = 100000, .share = 1, .gain = 1};

static void commands_are_answered_in_order(void **state)
{
    (void)state;
    const struct update small = update_of(2, 10), large = update_of(4, 1000);
    open_thread(false, 0);
    learner_link_order(learner_thread_link(worker),
                       &(struct action){.kind = ACTION_APPLY, .update = &small, .updates = 1});
    learner_link_order(learner_thread_link(worker),
                       &(struct action){.kind = ACTION_APPLY, .update = &large, .updates = 1});
    learner_link_order(learner_thread_link(worker),
                       &(struct action){.kind = ACTION_PUBLISH, .terms = whole, .last = false});
    learner_link_ask(learner_thread_link(worker), LEARNER_EVALUATE);
    struct learner_event event = next_event();
    assert_answers(event, ACTION_APPLY);
    assert_int_equal(event.answer.entries, 2);
    event = next_event();
    assert_answers(event, ACTION_APPLY);
    assert_int_equal(event.answer.entries, 4);
    event = next_event();
    assert_answers(event, ACTION_PUBLISH);
    assert_true(event.answer.took_ns > 0);
    assert_int_equal(event.answer.update->count, 0); /* the learner has made no step of its own */
    event = next_event();
    assert_int_equal(event.kind, LEARNER_EVALUATED);
    assert_int_equal(event.evaluation.samples, 4);
    learner_thread_stop(worker);
    assert_false(learner_link_next(learner_thread_link(worker), &event));
}

/* The report follows the answer to the publication that found NaNs, and comes only once. */
static void a_learner_that_diverged_says_so_once(void **state)
{
    (void)state;
    const struct action publish = {.kind = ACTION_PUBLISH, .terms = whole};
    float weights[64];
    assert_true(learner_parameters(learner) <= 64);
    learner_read_weights(learner, weights);
    weights[0] = (float)NAN;
    learner_write_weights(learner, weights);
    open_thread(false, 0);
    learner_link_order(learner_thread_link(worker), &publish);
    learner_link_order(learner_thread_link(worker), &publish);
    assert_answers(next_event(), ACTION_PUBLISH);
    const struct learner_event event = next_event();
    assert_int_equal(event.kind, LEARNER_RESET);
    assert_int_equal(event.resets.count, 1);
    assert_string_equal(event.resets.tensor, "0.dense.weight");
    assert_answers(next_event(), ACTION_PUBLISH);
    learner_thread_stop(worker);
    struct learner_event none;
    assert_false(learner_link_next(learner_thread_link(worker), &none));
}

/* An entry whose base has the largest value that can be published is reported only once. */
static void a_saturated_tensor_is_reported_once(void **state)
{
    (void)state;
    const struct action publish = {.kind = ACTION_PUBLISH, .terms = whole};
    const int32_t largest = 1 << 30;
    float weights[64];
    assert_true(learner_parameters(learner) <= 64);
    learner_write_block(learner, 1, 1, &largest, false);
    learner_read_weights(learner, weights);
    weights[1] = 300;
    learner_write_weights(learner, weights);
    open_thread(false, 0);
    learner_link_order(learner_thread_link(worker), &publish);
    learner_link_order(learner_thread_link(worker), &publish);
    assert_answers(next_event(), ACTION_PUBLISH);
    const struct learner_event event = next_event();
    assert_int_equal(event.kind, LEARNER_SATURATED);
    assert_int_equal(event.saturation.entries, 1);
    assert_int_equal(event.saturation.first, 1);
    assert_string_equal(event.saturation.tensor, "0.dense.weight");
    assert_answers(next_event(), ACTION_PUBLISH);
    learner_thread_stop(worker);
    struct learner_event none;
    assert_false(learner_link_next(learner_thread_link(worker), &none));
}

static uint64_t digest_of(const struct update *update)
{
    uint64_t digest = 0;
    for (uint32_t i = 0; i < update->count; i++) {
        const int level = update->level[i];
        const uint32_t units = update->amount * (uint32_t)level;
        digest = digest_add(digest, digest_of_entry(update->index[i], units));
    }
    return digest;
}

/* Applies far more updates than fit into the ring. At most APPLY_WINDOW entries are unanswered, as
 * the learner's thread requires. */
static void everything_heard_is_applied_once_however_much_it_is(void **state)
{
    (void)state;
    const uint32_t heard = 60000;
    uint64_t digest = learner_digest(learner);
    uint32_t under_way = 0;
    open_thread(false, 0);
    for (uint32_t i = 0; i < heard; i++) {
        const struct update update = update_of(1 + i % 4, 1 + i);
        digest = digest_add(digest, digest_of(&update));
        while (under_way + update.count > APPLY_WINDOW)
            under_way -= next_answer().answer.entries;
        learner_link_order(learner_thread_link(worker),
                           &(struct action){.kind = ACTION_APPLY, .update = &update, .updates = 1});
        under_way += update.count;
    }
    learner_thread_stop(worker);
    for (struct learner_event event; learner_link_next(learner_thread_link(worker), &event);)
        under_way -= event.answer.entries;
    assert_int_equal(under_way, 0);
    assert_true(learner_digest(learner) == digest);
}

static void the_learner_learns_on_its_own_thread(void **state)
{
    (void)state;
    enum { SAMPLES = 8000 };
    open_thread(true, SAMPLES);
    uint64_t samples = 0, steps = 0;
    while (samples < SAMPLES) {
        const struct learner_event event = next_event();
        assert_int_equal(event.kind, LEARNER_STEPPED);
        assert_true(isfinite(event.loss_sum));
        samples += event.samples;
        steps += event.steps;
        assert_true(event.is_over == (samples == SAMPLES));
    }
    assert_int_equal(samples, SAMPLES); /* exactly as many samples as allowed */
    assert_int_equal(steps, SAMPLES / 4);
    /* A publication has at most half of the entries (density_max), so it takes several to publish
     * all progress. */
    for (int i = 0; i < 50; i++) {
        learner_link_order(learner_thread_link(worker),
                           &(struct action){.kind = ACTION_PUBLISH, .terms = whole, .last = false});
        assert_answers(next_answer(), ACTION_PUBLISH);
    }
    learner_link_ask(learner_thread_link(worker), LEARNER_EVALUATE);
    const struct learner_event event = next_answer();
    learner_thread_stop(worker);
    assert_int_equal(event.kind, LEARNER_EVALUATED);
    assert_int_equal(event.evaluation.correct, 4);
    assert_true(event.evaluation.loss < 0.1);
}

/* Reads each published update from the learner's memory while the learner continues. */
static void publications_equal_the_movement_of_the_base(void **state)
{
    (void)state;
    uint64_t digest = learner_digest(learner);
    uint32_t told = 0;
    open_thread(true, 0);
    for (int round = 0; round < 50; round++) {
        while (next_event().kind != LEARNER_STEPPED)
            ;
        learner_link_order(
            learner_thread_link(worker),
            &(struct action){.kind = ACTION_PUBLISH, .terms = whole, .last = round == 49});
        const struct learner_event event = next_answer();
        assert_answers(event, ACTION_PUBLISH);
        digest = digest_add(digest, digest_of(event.answer.update));
        told += event.answer.update->count;
    }
    learner_thread_stop(worker);
    assert_true(told > 0);
    assert_true(learner_digest(learner) == digest);
}

static void nothing_is_learned_before_training_is_allowed(void **state)
{
    (void)state;
    open_thread(false, 0);
    learner_link_ask(learner_thread_link(worker), LEARNER_EVALUATE);
    assert_int_equal(next_event().kind, LEARNER_EVALUATED);
    learner_link_order(learner_thread_link(worker), &(struct action){.kind = ACTION_TRAIN});
    assert_int_equal(next_event().kind, LEARNER_STEPPED);
    learner_thread_stop(worker);
}

/* A step that lasts until the test opens the gate. */
static struct gate {
    pthread_mutex_t mutex;
    pthread_cond_t moved;
    bool is_reached, is_open;
    void (*sgd)(struct backend *, const struct sgd *, const float *, size_t, float *, const float *,
                float *);
} gate = {.mutex = PTHREAD_MUTEX_INITIALIZER, .moved = PTHREAD_COND_INITIALIZER};

static void sgd_at_gate(struct backend *with, const struct sgd *sgd, const float *factor,
                        size_t count, float *w, const float *g, float *m)
{
    (void)pthread_mutex_lock(&gate.mutex);
    gate.is_reached = true;
    (void)pthread_cond_broadcast(&gate.moved);
    while (!gate.is_open)
        (void)pthread_cond_wait(&gate.moved, &gate.mutex);
    (void)pthread_mutex_unlock(&gate.mutex);
    gate.sgd(with, sgd, factor, count, w, g, m);
}

static void wait_for_step(void)
{
    (void)pthread_mutex_lock(&gate.mutex);
    while (!gate.is_reached)
        (void)pthread_cond_wait(&gate.moved, &gate.mutex);
    (void)pthread_mutex_unlock(&gate.mutex);
}

static void let_step_end(void)
{
    (void)pthread_mutex_lock(&gate.mutex);
    gate.is_open = true;
    (void)pthread_cond_broadcast(&gate.moved);
    (void)pthread_mutex_unlock(&gate.mutex);
}

static const struct action read_all = {.kind = ACTION_READ, .first = 0, .entries = 21};

/* The block does not contain updates of earlier orders, which wait for the end of the step and have
 * no answer yet. */
static void the_base_is_read_while_a_step_lasts(void **state)
{
    (void)state;
    const struct update update = update_of(4, 1000);
    int32_t before[64];
    learner_read_units(learner, before);
    gate.is_reached = gate.is_open = false;
    const struct optimizer_operations *plain = backend->optimize;
    struct optimizer_operations gated = *plain;
    gate.sgd = plain->sgd;
    gated.sgd = sgd_at_gate;
    backend->optimize = &gated;
    open_thread(true, 0);
    wait_for_step();
    learner_link_order(learner_thread_link(worker),
                       &(struct action){.kind = ACTION_APPLY, .update = &update, .updates = 1});
    learner_link_order(learner_thread_link(worker), &read_all);
    struct learner_event event = next_answer();
    assert_answers(event, ACTION_READ);
    assert_memory_equal(event.answer.units, before, read_all.entries * sizeof *before);
    let_step_end();
    assert_answers(next_answer(), ACTION_APPLY);
    learner_link_order(learner_thread_link(worker), &read_all);
    event = next_answer();
    assert_answers(event, ACTION_READ);
    assert_int_equal(event.answer.units[3], before[3] - 2 * 1000);
    learner_thread_stop(worker);
    backend->optimize = plain;
}

static void a_read_block_contains_all_updates_answered_before_it(void **state)
{
    (void)state;
    enum { ROUNDS = 2000, UNDER_WAY = 64 };
    const struct update update = update_of(2, 1);
    int32_t before[64];
    uint32_t applied = 0, given = 0;
    learner_read_units(learner, before);
    open_thread(true, 0);
    for (int round = 0; round < ROUNDS; round++) {
        /* limits the unanswered orders, as a node does */
        for (; given - applied > UNDER_WAY; applied++)
            assert_answers(next_answer(), ACTION_APPLY);
        for (int i = 0; i < round % 3; i++, given++)
            learner_link_order(
                learner_thread_link(worker),
                &(struct action){.kind = ACTION_APPLY, .update = &update, .updates = 1});
        learner_link_order(learner_thread_link(worker), &read_all);
        struct learner_event event = next_answer();
        for (; event.answer.to == ACTION_APPLY; event = next_answer())
            applied++;
        assert_answers(event, ACTION_READ);
        assert_int_equal(event.answer.units[0] - before[0], applied);
        assert_int_equal(event.answer.units[3] - before[3], -2 * (int)applied);
    }
    for (; applied < given; applied++)
        assert_answers(next_answer(), ACTION_APPLY);
    learner_thread_stop(worker);
}

/* Returns the kernel's letter for a thread's state: R = running, S = sleeping. */
static char state_of(pid_t thread)
{
    char path[64], line[256] = "";
    (void)snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)thread);
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    (void)fclose(file);
    const char *end = strrchr(line, ')');
    assert_non_null(end);
    return end[2];
}

static void assert_falls_asleep(void)
{
    (void)pthread_mutex_lock(&bell.mutex);
    const pid_t thread = bell.thread;
    (void)pthread_mutex_unlock(&bell.mutex);
    for (int looks = 0; state_of(thread) != 'S' && looks < 100000; looks++)
        (void)sched_yield();
    assert_int_equal(state_of(thread), 'S');
}

static void the_last_telling_ends_the_training(void **state)
{
    (void)state;
    uint64_t samples = 0;
    struct learner_event event;
    open_thread(true, 0);
    for (int i = 0; i < 3; i++)
        samples += next_event().samples;
    learner_link_order(learner_thread_link(worker),
                       &(struct action){.kind = ACTION_PUBLISH, .terms = whole, .last = true});
    while ((event = next_event()).kind == LEARNER_STEPPED)
        samples += event.samples;
    assert_answers(event, ACTION_PUBLISH);
    assert_falls_asleep();
    learner_link_ask(learner_thread_link(worker), LEARNER_EVALUATE);
    event = next_event();
    assert_int_equal(event.kind, LEARNER_EVALUATED);
    learner_thread_stop(worker);
    assert_false(learner_link_next(learner_thread_link(worker), &event));
    assert_true(learner_samples(learner) == samples); /* every sample was reported before */
}

static void a_training_learner_stops_when_told_to(void **state)
{
    (void)state;
    struct learner_event event;
    open_thread(true, 0);
    assert_int_equal(next_event().kind, LEARNER_STEPPED);
    learner_thread_stop(worker);
    const uint64_t samples = learner_samples(learner);
    while (learner_link_next(learner_thread_link(worker), &event))
        ;
    assert_true(learner_samples(learner) == samples);
}

static void an_idle_learner_sleeps_and_can_be_woken(void **state)
{
    (void)state;
    open_thread(false, 0);
    for (int round = 0; round < 3; round++) {
        learner_link_ask(learner_thread_link(worker), LEARNER_EVALUATE);
        assert_int_equal(next_event().kind, LEARNER_EVALUATED);
        assert_falls_asleep();
    }
    learner_thread_stop(worker);
}

int main(void)
{
#define THREAD(name) cmocka_unit_test_setup_teardown(name, learner_start, learner_stop)
    const struct CMUnitTest tests[] = {
        THREAD(commands_are_answered_in_order),
        THREAD(a_learner_that_diverged_says_so_once),
        THREAD(a_saturated_tensor_is_reported_once),
        THREAD(everything_heard_is_applied_once_however_much_it_is),
        THREAD(the_learner_learns_on_its_own_thread),
        THREAD(publications_equal_the_movement_of_the_base),
        THREAD(the_base_is_read_while_a_step_lasts),
        THREAD(a_read_block_contains_all_updates_answered_before_it),
        THREAD(nothing_is_learned_before_training_is_allowed),
        THREAD(the_last_telling_ends_the_training),
        THREAD(a_training_learner_stops_when_told_to),
        THREAD(an_idle_learner_sleeps_and_can_be_woken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
