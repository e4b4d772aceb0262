/* The ticks of an axis. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "plot/ticks.h"

/* Returns the numbers at the ticks, separated by blanks. */
static const char *told(struct ticks ticks)
{
    static char text[512];
    char number[TICKS_TEXT_BYTES];
    text[0] = 0;
    for (int i = 0; i < ticks.count; i++) {
        if (i > 0)
            (void)strcat(text, " ");
        (void)strcat(text, ticks_text(&ticks, i, number));
    }
    return text;
}

static void they_stand_at_round_numbers(void **state)
{
    (void)state;
    assert_string_equal(told(ticks_around(0.31, 2.3, 6)), "0.0 0.5 1.0 1.5 2.0 2.5");
    assert_string_equal(told(ticks_around(0.871, 0.902, 4)), "0.86 0.88 0.90 0.92");
    assert_string_equal(told(ticks_within(0, 58, 6)), "0 10 20 30 40 50");
    assert_string_equal(told(ticks_within(0, 60, 6)), "0 10 20 30 40 50 60");
    assert_string_equal(told(ticks_around(-3, 3, 4)), "-4 -2 0 2 4");
}

static void large_numbers_have_a_prefix(void **state)
{
    (void)state;
    assert_string_equal(told(ticks_within(0, 8000, 4)), "0 2000 4000 6000 8000");
    assert_string_equal(told(ticks_within(0, 40000, 4)), "0 10k 20k 30k 40k");
    assert_string_equal(told(ticks_within(0, 2.1e6, 4)), "0 1M 2M");
    assert_string_equal(told(ticks_within(0, 1.2e6, 2)), "0 1M");
    assert_string_equal(told(ticks_within(1e6, 2e6, 4)), "1.0M 1.5M 2.0M");
}

static void one_value_alone_has_room_around_it(void **state)
{
    (void)state;
    const double values[] = {0, 1, -7.25, 1e-12, 3e12};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        const struct ticks ticks = ticks_around(values[i], values[i], 5);
        assert_true(ticks.count >= 2 && ticks.count < 20);
        assert_true(ticks.first <= values[i] && values[i] <= ticks_last(&ticks));
        assert_true(ticks.first < ticks_last(&ticks));
    }
}

/* All data are between the outer ticks, and the number of ticks is limited. */
static void they_bound_what_is_to_be_seen(void **state)
{
    (void)state;
    for (int power = -12; power <= 12; power++)
        for (double low = -3; low < 3; low += 0.37)
            for (double width = 0.01; width < 5; width *= 1.7)
                for (int about = 2; about < 9; about++) {
                    const double scale = pow(10, power), high = (low + width) * scale;
                    const struct ticks ticks = ticks_around(low * scale, high, about);
                    assert_true(ticks.first <= low * scale + 1e-6 * ticks.step);
                    assert_true(ticks_last(&ticks) >= high - 1e-6 * ticks.step);
                    assert_in_range(ticks.count, 2, about + 2);
                }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_stand_at_round_numbers),
        cmocka_unit_test(large_numbers_have_a_prefix),
        cmocka_unit_test(one_value_alone_has_room_around_it),
        cmocka_unit_test(they_bound_what_is_to_be_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
