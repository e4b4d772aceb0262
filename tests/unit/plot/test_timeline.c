/* A curve that grows while it is watched. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "plot/strip.h"

static struct timeline timeline;

static int begin(void **state)
{
    (void)state;
    timeline = (struct timeline){.count = 0};
    return 0;
}

static void a_long_run_keeps_its_curve(void **state)
{
    (void)state;
    for (int i = 1; i <= 10 * TIMELINE_POINTS; i++)
        timeline_add(&timeline, i, -i);
    assert_true(timeline.count >= TIMELINE_POINTS / 2 && timeline.count <= TIMELINE_POINTS);
    assert_true(timeline.at_s[0] == 1);
    assert_true(timeline.at_s[timeline.count - 1] > 9 * TIMELINE_POINTS);
    for (size_t i = 1; i < timeline.count; i++) {
        assert_true(timeline.at_s[i] > timeline.at_s[i - 1]);
        assert_true(timeline.value[i] == -timeline.at_s[i]);
    }
}

static void skips_unknown_values(void **state)
{
    (void)state;
    timeline_add(&timeline, 1, NAN);
    assert_int_equal(timeline.count, 0);
    assert_int_equal(timeline_until(&timeline, 5), 0);
}

static void the_last_value_holds_until_now(void **state)
{
    (void)state;
    timeline_add(&timeline, 1, 0.5);
    assert_int_equal(timeline_until(&timeline, 3), 2);
    assert_true(timeline.at_s[1] == 3 && timeline.value[1] == 0.5);
    timeline_add(&timeline, 4, 0.25); /* replaces the preliminary last point */
    assert_int_equal(timeline.count, 2);
    assert_true(timeline.at_s[1] == 4 && timeline.value[1] == 0.25);
}

static void a_strip_shows_it_whole_with_round_bounds(void **state)
{
    (void)state;
    static char text[256];
    struct strip strip;
    timeline_add(&timeline, 100, 0.75);
    timeline_add(&timeline, 104, 0.25);
    strip_of(&strip, &timeline, 108, 2, STRIP_MARGIN + 4, true);
    FILE *out = fmemopen(text, sizeof text, "w");
    assert_non_null(out);
    for (int row = 0; row < 2; row++) {
        strip_print_row(&strip, out, row, "<");
        (void)fputc('\n', out);
    }
    assert_int_equal(fclose(out), 0);
    assert_string_equal(text, "    1.0 │<⢄   \n"
                              "    0.0 │< ⠉⠒⠒\n");
}

static void a_strip_without_a_point_is_empty(void **state)
{
    (void)state;
    static char text[64];
    struct strip strip;
    strip_of(&strip, &timeline, 5, 1, STRIP_MARGIN + 3, false);
    FILE *out = fmemopen(text, sizeof text, "w");
    assert_non_null(out);
    strip_print_row(&strip, out, 0, "");
    assert_int_equal(fclose(out), 0);
    assert_string_equal(text, "        |   ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_long_run_keeps_its_curve, begin),
        cmocka_unit_test_setup(skips_unknown_values, begin),
        cmocka_unit_test_setup(the_last_value_holds_until_now, begin),
        cmocka_unit_test_setup(a_strip_shows_it_whole_with_round_bounds, begin),
        cmocka_unit_test_setup(a_strip_without_a_point_is_empty, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
