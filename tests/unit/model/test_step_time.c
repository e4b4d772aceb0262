/* The time of steps on each device. A GPU reports how long each step took, the CPU leaves that to
 * the caller. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/system_clock.h"
#include "support/model/each_device.h"
#include "training/step_time.h"

#define BATCH_MAX 8

static struct arena arena;
static struct model *model;
static struct learner *learner;
static double begun_s;

static int learner_begins(void **state)
{
    const struct dataset_options about = {
        .source = DATASET_GENERATED, .seed = 1, .train_count = 64, .shards = 1};
    const struct learner_options options = {.optimizer = {.sgd = {.rate = 0.01f}},
                                            .batch = 2,
                                            .batch_max = BATCH_MAX,
                                            .model_seed = 1,
                                            .data_seed = 1,
                                            .density_max = 10};
    struct dataset train;
    struct problem problem = {""};
    (void)device_opens(state);
    arena_init(&arena, (size_t)1 << 20);
    assert_int_equal(dataset_load_train(&train, &about, &problem), OK);
    assert_int_equal(model_new(&model, &arena, backend, "dense 4, relu, dense 10", train.shape,
                               train.classes, BATCH_MAX, &problem),
                     OK);
    begun_s = monotonic_s();
    learner = learner_new(&arena, backend, model, &train, NULL, &options);
    dataset_free(&train);
    return 0;
}

static int learner_ends(void **state)
{
    learner_free(learner);
    model_free(model);
    arena_release(&arena);
    return device_closes(state);
}

/* Makes a step of each size from `first` to `end` - 1, and waits for them. */
static void make_steps(uint32_t first, uint32_t end)
{
    for (uint32_t size = first; size < end; size++) {
        learner_set_batch(learner, size);
        assert_int_equal(learner_step(learner), size);
    }
    (void)learner_losses(learner);
}

static void a_gpu_times_each_of_its_steps_in_order(void **state)
{
    (void)state;
    struct step_time time;
    double sum_s = 0;
    if (gpu_under_test < 0)
        skip();
    assert_true(step_time_is_needed(learner));
    assert_false(step_time_take(learner, &time));
    make_steps(2, BATCH_MAX + 1);
    for (uint32_t size = 2; size <= BATCH_MAX; size++) {
        assert_true(step_time_take(learner, &time));
        assert_int_equal(time.samples, size);
        assert_true(time.ns > 0);
        sum_s += (double)time.ns * 1e-9;
    }
    assert_false(step_time_take(learner, &time));
    assert_true(sum_s <= monotonic_s() - begun_s);
}

static void a_repeated_step_is_timed(void **state)
{
    (void)state;
    struct step_time time;
    if (gpu_under_test < 0)
        skip();
    for (int times = 0; times < 6; times++) {
        make_steps(3, 4);
        assert_true(step_time_take(learner, &time));
        assert_int_equal(time.samples, 3);
        assert_true(time.ns > 0);
    }
}

static void times_that_are_not_taken_drop_the_oldest(void **state)
{
    (void)state;
    struct step_time time;
    int taken = 0;
    if (gpu_under_test < 0)
        skip();
    for (int times = 0; times < WATCH_MAX; times++)
        make_steps(2, 3);
    make_steps(5, 6);
    for (; step_time_take(learner, &time); taken++)
        assert_int_equal(time.samples, taken == WATCH_MAX - 1 ? 5 : 2);
    assert_int_equal(taken, WATCH_MAX);
}

static void the_cpu_leaves_the_time_to_its_caller(void **state)
{
    (void)state;
    struct step_time time;
    if (gpu_under_test >= 0)
        skip();
    assert_false(step_time_is_needed(learner));
    make_steps(2, 5);
    assert_false(step_time_take(learner, &time));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, learner_begins, learner_ends)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_gpu_times_each_of_its_steps_in_order),
        TEST(a_repeated_step_is_timed),
        TEST(times_that_are_not_taken_drop_the_oldest),
        TEST(the_cpu_leaves_the_time_to_its_caller),
    };
    RUN_ON_EACH_DEVICE(tests, NULL, NULL);
}
