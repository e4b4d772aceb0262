/* The size of steps on the learner's thread, by its own clock or a GPU's, and the position in the
 * schedule at the start. */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/time_units.h"
#include "daemon/learner_thread.h"
#include "support/model/each_device.h"

static struct arena arena;
static struct model *model;
static struct learner *learner;
static struct learner_thread_used used; /* resources that the last thread used */
static struct time_spent spent;         /* times that the last thread reported */
static uint32_t told_steps;             /* steps that the last thread reported */

static int begin(void **state)
{
    (void)state;
    const struct dataset_options source = {.source = DATASET_XOR, .shards = 1};
    const struct learner_options options = {.optimizer = {.sgd = {.rate = 0.01f}},
                                            .batch = 32,
                                            .batch_max = 64,
                                            .model_seed = 1,
                                            .density_max = 1};
    struct dataset train;
    struct problem problem;
    arena_init(&arena, (size_t)64 << 20);
    (void)device_opens(state);
    assert_int_equal(dataset_load_train(&train, &source, &problem), OK);
    assert_int_equal(model_new(&model, &arena, backend, model_preset("xor"), train.shape,
                               train.classes, 64, &problem),
                     OK);
    learner = learner_new(&arena, backend, model, &train, NULL, &options);
    dataset_free(&train);
    return 0;
}

static int end(void **state)
{
    (void)state;
    learner_free(learner);
    model_free(model);
    arena_release(&arena);
    return device_closes(state);
}

static void nobody_is_woken(void *waker)
{
    (void)waker;
}

/* Trains on 1600 samples in a new thread. Returns the last reported batch. */
static uint32_t train(uint64_t step_ns, uint64_t swarm_samples)
{
    enum { SAMPLES = 1600 };
    const struct learner_thread_options options = {
        .batch_size = {.step_ns = step_ns, .batch_max = 64},
        .samples_max = SAMPLES,
        .apply_window = 10,
        .wake = nobody_is_woken};
    struct learner_thread *worker = learner_thread_new(&arena, learner, &options);
    struct learner_event event = {.batch = 0};
    learner_link_order(learner_thread_link(worker),
                       &(struct action){.kind = ACTION_TRAIN, .swarm_samples = swarm_samples});
    spent = (struct time_spent){0};
    told_steps = 0;
    for (uint64_t samples = 0; samples < SAMPLES;) {
        if (!learner_link_next(learner_thread_link(worker), &event)) {
            (void)sched_yield();
            continue;
        }
        samples += event.samples;
        told_steps += event.steps;
        time_spent_add(&spent, &event.spent);
    }
    learner_thread_stop(worker);
    used = learner_thread_used(worker);
    assert_int_equal(event.batch, step_ns > 0 ? learner_batch(learner) : 0);
    return learner_batch(learner);
}

static void the_batch_grows_to_the_available_memory_if_steps_may_be_slow(void **state)
{
    (void)state;
    assert_int_equal(train(UINT64_C(3600000000000), 0), 64);
}

static void the_batch_shrinks_if_steps_must_be_fast(void **state)
{
    (void)state;
    assert_int_equal(train(1, 0), BATCH_SIZE_MIN);
}

static void without_a_time_a_step_keeps_its_size(void **state)
{
    (void)state;
    assert_int_equal(train(0, 0), 32);
}

static void each_step_that_is_told_has_its_time(void **state)
{
    (void)state;
    uint32_t timed = 0;
    (void)train(0, 0);
    for (int bin = 0; bin < TIME_SPENT_BINS; bin++)
        timed += spent.steps[bin];
    assert_int_equal(timed, told_steps);
    assert_true(spent.steps_ns > 0);
}

static void training_begins_where_the_swarm_is(void **state)
{
    (void)state;
    (void)train(0, 1000000);
    assert_int_equal(learner_swarm_samples(learner), 1000000 + learner_samples(learner));
}

/* Applies updates in a thread that does not train. */
static void apply_ten_times(void)
{
    const struct learner_thread_options options = {
        .batch_size.batch_max = 64, .apply_window = 10, .wake = nobody_is_woken};
    uint32_t index = 0;
    int8_t level = 1;
    const struct update update = {
        .tau = 1, .amount = 1, .count = 1, .index = &index, .level = &level};
    struct learner_thread *worker = learner_thread_new(&arena, learner, &options);
    struct learner_event event;
    for (int i = 0; i < 10; i++) {
        learner_link_order(learner_thread_link(worker),
                           &(struct action){.kind = ACTION_APPLY, .update = &update, .updates = 1});
        while (!learner_link_next(learner_thread_link(worker), &event))
            (void)sched_yield();
    }
    learner_thread_stop(worker);
    used = learner_thread_used(worker);
}

static void the_time_of_steps_and_of_the_exchange_is_counted_apart(void **state)
{
    (void)state;
    (void)train(0, 0);
    assert_true(used.steps_ns > 0);
    assert_int_equal(used.exchange_ns, 0);
    apply_ten_times();
    assert_int_equal(used.steps_ns, 0);
    assert_true(used.exchange_ns > 0);
}

enum { HOUR_S = 3600, SLOW_STEP_MS = 20, SLOW_STEPS = 5 };

static struct learner_thread *slow_thread(uint64_t step_ns_min)
{
    const struct learner_thread_options options = {.samples_max = SLOW_STEPS * 32,
                                                   .step_ns_min = step_ns_min,
                                                   .apply_window = 10,
                                                   .wake = nobody_is_woken};
    struct learner_thread *worker = learner_thread_new(&arena, learner, &options);
    learner_link_order(learner_thread_link(worker), &(struct action){.kind = ACTION_TRAIN});
    return worker;
}

static struct learner_event wait_for_event(struct learner_thread *worker)
{
    struct learner_event event;
    while (!learner_link_next(learner_thread_link(worker), &event))
        (void)sched_yield();
    return event;
}

static void no_more_steps_are_made_in_a_second_than_was_asked_for(void **state)
{
    (void)state;
    const uint64_t from_ns = monotonic_ns();
    struct learner_thread *worker = slow_thread(SLOW_STEP_MS * MS_NS);
    for (uint32_t steps = 0; steps < SLOW_STEPS;)
        steps += wait_for_event(worker).steps;
    learner_thread_stop(worker);
    assert_true(monotonic_ns() - from_ns >= (SLOW_STEPS - 1) * SLOW_STEP_MS * MS_NS);
    assert_int_equal(learner_samples(learner), SLOW_STEPS * 32);
}

/* The learner's pace allows the next step only after an hour. */
static void orders_are_performed_while_a_step_is_waited_for(void **state)
{
    (void)state;
    struct learner_thread *worker = slow_thread(HOUR_S * SECOND_NS);
    assert_int_equal(wait_for_event(worker).kind, LEARNER_STEPPED);
    for (int i = 0; i < 3; i++) {
        learner_link_order(
            learner_thread_link(worker),
            &(struct action){.kind = ACTION_PUBLISH, .terms = {.share = 1, .gain = 1}});
        const struct learner_event event = wait_for_event(worker);
        assert_int_equal(event.kind, LEARNER_ANSWERED);
        assert_int_equal(event.answer.to, ACTION_PUBLISH);
    }
    learner_thread_stop(worker);
    assert_int_equal(learner_samples(learner), 32);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(the_batch_grows_to_the_available_memory_if_steps_may_be_slow),
        TEST(the_batch_shrinks_if_steps_must_be_fast),
        TEST(without_a_time_a_step_keeps_its_size),
        TEST(each_step_that_is_told_has_its_time),
        TEST(training_begins_where_the_swarm_is),
        TEST(the_time_of_steps_and_of_the_exchange_is_counted_apart),
        TEST(no_more_steps_are_made_in_a_second_than_was_asked_for),
        TEST(orders_are_performed_while_a_step_is_waited_for),
    };
    RUN_ON_EACH_DEVICE(tests, NULL, NULL);
}
