/* A curve that grows while somebody watches. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "plot/timeline.h"

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

static void what_is_not_known_is_left_out(void **state)
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
    timeline_add(&timeline, 4, 0.25); /* and is no point of the curve */
    assert_int_equal(timeline.count, 2);
    assert_true(timeline.at_s[1] == 4 && timeline.value[1] == 0.25);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_long_run_keeps_its_curve, begin),
        cmocka_unit_test_setup(what_is_not_known_is_left_out, begin),
        cmocka_unit_test_setup(the_last_value_holds_until_now, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
