/* The maximum number of resets after diverged training. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/time_units.h"
#include "daemon/resets.h"

static void three_within_an_hour_are_too_many(void **state)
{
    (void)state;
    struct resets resets = {0};
    resets_add(&resets, 1);
    resets_add(&resets, 2);
    assert_false(resets.are_too_many);
    resets_add(&resets, 3600 * SECOND_NS);
    assert_true(resets.are_too_many);
    resets_add(&resets, 36000 * SECOND_NS);
    assert_true(resets.are_too_many);
}

static void now_and_then_is_not_too_often(void **state)
{
    (void)state;
    struct resets resets = {0};
    for (uint64_t hour = 1; hour < 100; hour++)
        resets_add(&resets, hour * 1801 * SECOND_NS);
    assert_false(resets.are_too_many);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_within_an_hour_are_too_many),
        cmocka_unit_test(now_and_then_is_not_too_often),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
