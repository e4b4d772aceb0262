/* The averaged base: compared with its closed form, cleared, and continued. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/model/each_device.h"
#include "training/base_average.h"

#define P     70000 /* more entries than base_average.c reads at once (PART) */
#define POWER 10.0

static struct arena arena;
static struct replica replica;
static struct base_average average;
static int32_t units[P];

static int begin(void **state)
{
    static const float init[P];
    (void)state;
    arena_init(&arena, (size_t)64 << 20);
    replica_init(&replica, &arena, backend, P, init, P);
    base_average_init(&average, &arena, P);
    return 0;
}

static int end(void **state)
{
    (void)state;
    replica_free(&replica);
    arena_release(&arena);
    return 0;
}

/* Sets the first entry of the base to `value`, the last to half of it, and all others to 0. */
static void set_base(double value)
{
    memset(units, 0, sizeof units);
    units[0] = (int32_t)lround(value / (double)QUANTUM);
    units[P - 1] = units[0] / 2;
    replica_write_block(&replica, 0, P, units, false);
}

static void add(double value, uint64_t samples)
{
    set_base(value);
    base_average_add(&average, &replica, samples);
}

static void the_mean_of_a_constant_base_is_that_base(void **state)
{
    (void)state;
    for (uint64_t samples = 1; samples < 100000; samples += 100)
        add(0.75, samples);
    assert_true(average.mean[0] == 0.75f && average.mean[1] == 0 && average.mean[P - 1] == 0.375f);
}

/* A base that equals its samples s has the mean s · POWER / (POWER + 1), whatever the distance
 * between steps. */
static void weighs_a_base_by_a_power_of_its_samples(void **state)
{
    (void)state;
    for (uint64_t samples = 1000; samples <= 1000000; samples += samples / 256)
        add((double)samples * 1e-6, samples);
    const double end = (double)average.samples * 1e-6, mean = end * POWER / (POWER + 1);
    assert_true(average.samples > 990000);
    assert_true(fabs((double)average.mean[0] - mean) < 0.003 * end);
    assert_true(fabs((double)average.mean[P - 1] - mean / 2) < 0.003 * end);
}

static void adds_once_per_256th_of_the_samples(void **state)
{
    (void)state;
    add(1, 256000);
    add(2, 256999);
    assert_true(average.mean[0] == 1);
    add(2, 257000);
    assert_true(average.mean[0] > 1 && average.mean[0] < 1.1f && average.samples == 257000);
}

static void does_nothing_before_the_first_sample(void **state)
{
    (void)state;
    add(1, 0);
    assert_int_equal(average.samples, 0);
    add(2, 10);
    assert_true(average.mean[0] == 2);
}

static void a_cleared_mean_begins_with_the_next_base(void **state)
{
    (void)state;
    add(1, 100000);
    base_average_clear(&average);
    add(0.5, 110000);
    assert_true(average.mean[0] == 0.5f && average.samples == 110000);
    base_average_clear(&average);
    add(0.25, 90000); /* the new base may have fewer samples */
    assert_true(average.mean[0] == 0.25f && average.samples == 90000);
}

static void a_restored_mean_continues_as_if_it_had_not_stopped(void **state)
{
    static float saved[P];
    (void)state;
    add(1, 100000);
    memcpy(saved, average.mean, sizeof saved);
    add(2, 110000);
    const float uninterrupted = average.mean[0];
    base_average_clear(&average);
    base_average_set(&average, saved, P, 100000);
    add(2, 110000);
    assert_true(average.mean[0] == uninterrupted && uninterrupted > 1.5f);
}

static void without_memory_nothing_is_added(void **state)
{
    (void)state;
    struct base_average none = {0};
    set_base(1);
    base_average_add(&none, &replica, 1000);
    assert_int_equal(none.samples, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_mean_of_a_constant_base_is_that_base),
        TEST(weighs_a_base_by_a_power_of_its_samples),
        TEST(adds_once_per_256th_of_the_samples),
        TEST(does_nothing_before_the_first_sample),
        TEST(a_cleared_mean_begins_with_the_next_base),
        TEST(a_restored_mean_continues_as_if_it_had_not_stopped),
        TEST(without_memory_nothing_is_added),
    };
    RUN_ON_EACH_DEVICE(tests, device_opens, device_closes);
}
