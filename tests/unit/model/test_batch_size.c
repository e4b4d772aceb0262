/* The number of samples in a step, chosen by the machine's speed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/time_units.h"
#include "training/batch_size.h"

static const struct batch_size PACE = {
    .step_ns = 100 * MS_NS, .batch_max = 256, .window_ns = 2 * SECOND_NS};

static void a_machine_twice_as_fast_makes_steps_twice_as_large(void **state)
{
    (void)state;
    const struct {
        double samples_per_s;
        uint32_t batch;
    } cases[] = {{80, 8}, {160, 16}, {640, 64}, {1280, 128}, {2560, 256}, {700, 64}, {1000, 128}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const uint32_t from = cases[i].batch > 32 ? 8 : 256;
        assert_int_equal(batch_size_fit(&PACE, from, cases[i].samples_per_s), cases[i].batch);
    }
}

static void no_step_is_smaller_or_larger_than_the_bounds(void **state)
{
    (void)state;
    assert_int_equal(batch_size_fit(&PACE, 32, 0), BATCH_SIZE_MIN);
    assert_int_equal(batch_size_fit(&PACE, 8, 1e-3), BATCH_SIZE_MIN);
    assert_int_equal(batch_size_fit(&PACE, 32, 1e30), 256);
    assert_int_equal(batch_size_fit(&PACE, 256, 1e5), 256);
    /* a previous batch above the maximum is reduced */
    assert_int_equal(batch_size_fit(&PACE, 1000, 1e4), 256);
}

static void a_speed_that_varies_changes_nothing(void **state)
{
    (void)state;
    for (double samples_per_s = 100; samples_per_s < 2000; samples_per_s *= 1.01) {
        const uint32_t batch = batch_size_fit(&PACE, 1, samples_per_s);
        assert_true(batch >= 8 && (batch & (batch - 1)) == 0);
        assert_int_equal(batch_size_fit(&PACE, batch, 1.29 * samples_per_s), batch);
        assert_int_equal(batch_size_fit(&PACE, batch, 0.75 * samples_per_s), batch);
    }
    assert_int_equal(batch_size_fit(&PACE, 64, 321),
                     64); /* a step may take half to twice the wanted time */
    assert_int_equal(batch_size_fit(&PACE, 64, 319), 32);
    assert_int_equal(batch_size_fit(&PACE, 64, 1279), 64);
    assert_int_equal(batch_size_fit(&PACE, 64, 1281), 128);
}

static void nothing_is_decided_before_enough_was_measured(void **state)
{
    (void)state;
    struct batch_size batch_size = PACE;
    for (int i = 0; i < 199; i++)
        assert_int_equal(batch_size_on_step(&batch_size, 32, 10 * MS_NS), 32);
    assert_int_equal(batch_size_on_step(&batch_size, 32, 10 * MS_NS), 256);
    for (int i = 0; i < 2; i++) /* earlier measurements were dropped */
        assert_int_equal(batch_size_on_step(&batch_size, 256, 4 * SECOND_NS), 256);
    assert_int_equal(batch_size_on_step(&batch_size, 256, 4 * SECOND_NS), 8);
}

static void unknown_step_times_keep_the_batch(void **state)
{
    (void)state;
    struct batch_size batch_size = {.batch_max = 256};
    for (int i = 0; i < 10; i++)
        assert_int_equal(batch_size_on_step(&batch_size, 33, SECOND_NS), 33);
}

static void the_largest_batch_fits_the_memory(void **state)
{
    (void)state;
    assert_int_equal(batch_size_max(1000, 256000), 256);
    assert_int_equal(batch_size_max(1000, 255999), 128);
    assert_int_equal(batch_size_max(1 << 30, 1000), BATCH_SIZE_MIN);
    assert_int_equal(batch_size_max(1, UINT64_MAX), BATCH_SIZE_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_machine_twice_as_fast_makes_steps_twice_as_large),
        cmocka_unit_test(no_step_is_smaller_or_larger_than_the_bounds),
        cmocka_unit_test(a_speed_that_varies_changes_nothing),
        cmocka_unit_test(nothing_is_decided_before_enough_was_measured),
        cmocka_unit_test(unknown_step_times_keep_the_batch),
        cmocka_unit_test(the_largest_batch_fits_the_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
