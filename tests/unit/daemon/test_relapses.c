/* When training has diverged too often. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/relapses.h"

#define SECOND 1000000000ull

static void three_within_an_hour_are_too_many(void **state)
{
    (void)state;
    struct relapses relapses = {0};
    relapses_add(&relapses, 1);
    relapses_add(&relapses, 2);
    assert_false(relapses.are_too_many);
    relapses_add(&relapses, 3600 * SECOND);
    assert_true(relapses.are_too_many);
    relapses_add(&relapses, 36000 * SECOND);
    assert_true(relapses.are_too_many);
}

static void now_and_then_is_not_too_often(void **state)
{
    (void)state;
    struct relapses relapses = {0};
    for (uint64_t hour = 1; hour < 100; hour++)
        relapses_add(&relapses, hour * 1801 * SECOND);
    assert_false(relapses.are_too_many);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_within_an_hour_are_too_many),
        cmocka_unit_test(now_and_then_is_not_too_often),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
