/* Sorting numbers and computing their medians. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/sort.h"

static void sorts_numbers_of_any_size(void **state)
{
    (void)state;
    double reals[] = {INFINITY, 0.5, -1e300, 0.25, -INFINITY};
    const double sorted[] = {-INFINITY, -1e300, 0.25, 0.5, INFINITY};
    uint64_t wholes[] = {UINT64_MAX, 1, (uint64_t)1 << 63, 0, 1};
    const uint64_t in_order[] = {0, 1, 1, (uint64_t)1 << 63, UINT64_MAX};
    double_sort(reals, 5);
    u64_sort(wholes, 5);
    for (int i = 0; i < 5; i++)
        assert_true(reals[i] == sorted[i]);
    assert_memory_equal(wholes, in_order, sizeof wholes);
}

static void the_median_of_an_odd_number_of_values_is_the_middle_one(void **state)
{
    (void)state;
    double reals[] = {3, -1, 2};
    uint64_t wholes[] = {30, 10, 20};
    assert_true(double_median_low(reals, 3) == 2 && double_median_high(reals, 3) == 2);
    assert_true(u64_median_low(wholes, 3) == 20 && u64_median_high(wholes, 3) == 20);
    assert_true(double_median_low(reals, 1) == -1 && u64_median_high(wholes, 1) == 10);
}

static void an_even_number_of_values_has_a_low_and_a_high_median(void **state)
{
    (void)state;
    double reals[] = {4, 1, 3, 2};
    uint64_t wholes[] = {40, 10, 30, 20};
    assert_true(double_median_low(reals, 4) == 2 && double_median_high(reals, 4) == 3);
    assert_true(u64_median_low(wholes, 4) == 20 && u64_median_high(wholes, 4) == 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sorts_numbers_of_any_size),
        cmocka_unit_test(the_median_of_an_odd_number_of_values_is_the_middle_one),
        cmocka_unit_test(an_even_number_of_values_has_a_low_and_a_high_median),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
