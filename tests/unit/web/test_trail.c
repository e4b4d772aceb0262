/* The trail, which records the values of a page's curves, uses bounded memory for any number of
 * weeks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "web/trail.h"

static struct trail trail;

static int begin(void **state)
{
    (void)state;
    trail_init(&trail);
    return 0;
}

/* Adds a second in which all values are `number`. */
static bool add(double number)
{
    double second[TRAIL_VALUES];
    for (int value = 0; value < TRAIL_VALUES; value++)
        second[value] = number;
    return trail_add(&trail, second);
}

static void every_second_is_a_moment_at_first(void **state)
{
    (void)state;
    for (int s = 0; s < 100; s++)
        assert_true(add(s));
    assert_int_equal(trail.count, 100);
    assert_true(trail.rows[99][TRAIL_LOSS] == 99);
}

static void a_full_trail_is_halved_into_means_and_goes_on_half_as_often(void **state)
{
    (void)state;
    for (int s = 0; s < TRAIL_MAX; s++)
        assert_true(add(s));
    assert_int_equal(trail.count, TRAIL_MAX / 2);
    assert_int_equal(trail.each, 2);
    assert_true(trail.rows[0][TRAIL_AT_S] == 0.5);
    assert_true(trail.rows[TRAIL_MAX / 2 - 1][TRAIL_AT_S] == TRAIL_MAX - 1.5);
    assert_false(add(TRAIL_MAX));
    assert_int_equal(trail.count, TRAIL_MAX / 2);
    assert_true(add(TRAIL_MAX + 1));
    assert_int_equal(trail.count, TRAIL_MAX / 2 + 1);
    assert_true(trail.rows[TRAIL_MAX / 2][TRAIL_SHARE] == TRAIL_MAX + 0.5);
}

static void weeks_fit_into_it_in_order(void **state)
{
    (void)state;
    const uint32_t seconds = 3 * 7 * 86400;
    for (uint32_t s = 0; s < seconds; s++)
        (void)add(s);
    assert_in_range(trail.count, TRAIL_MAX / 2, TRAIL_MAX - 1);
    for (uint32_t i = 0; i < trail.count; i++)
        assert_true(trail.rows[i][TRAIL_AT_S] == i * trail.each + (trail.each - 1) / 2.0);
}

static void unknown_values_do_not_hide_known_ones(void **state)
{
    (void)state;
    for (int s = 0; s < TRAIL_MAX; s++)
        (void)add(s % 2 ? (double)NAN : s);
    for (uint32_t i = 0; i < trail.count; i++)
        assert_true(trail.rows[i][TRAIL_LOSS] == 2 * i);
    (void)add((double)NAN);
    (void)add((double)NAN);
    assert_true(isnan(trail.rows[trail.count - 1][TRAIL_LOSS]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(every_second_is_a_moment_at_first, begin),
        cmocka_unit_test_setup(a_full_trail_is_halved_into_means_and_goes_on_half_as_often, begin),
        cmocka_unit_test_setup(weeks_fit_into_it_in_order, begin),
        cmocka_unit_test_setup(unknown_values_do_not_hide_known_ones, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
