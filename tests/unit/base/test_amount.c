/* Amounts and time spans as text for people. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "base/amount.h"

static void amounts_have_three_digits_and_a_unit(void **state)
{
    (void)state;
    static const struct {
        double amount;
        const char *unit, *text;
    } CASES[] = {
        {0, "B", "0 B"},         {7, "B", "7 B"},
        {999, "B", "999 B"},     {999.6, "B", "1.00 kB"},
        {1000, "B", "1.00 kB"},  {9994, "B", "9.99 kB"},
        {9996, "B", "10.0 kB"},  {99960, "B/s", "100 kB/s"},
        {1234567, "", "1.23 M"}, {12, "", "12"},
        {0.5, "/s", "0.50 /s"},  {2e15, "B", "2.00 PB"},
        {5e18, "B", "5000 PB"},  {NAN, "B", "-"},
        {INFINITY, "B", "-"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++)
        assert_string_equal(amount_of(CASES[i].amount, CASES[i].unit).text, CASES[i].text);
}

static void spans_are_short(void **state)
{
    (void)state;
    static const struct {
        double seconds;
        const char *text;
    } CASES[] = {
        {0, "0.0 ms"},      {0.00075, "0.8 ms"}, {0.0123, "12 ms"}, {0.9994, "999 ms"},
        {0.9996, "0.9 s"},  {1, "1.0 s"},         {59.99, "59.9 s"}, {60, "1m00s"},
        {3599.9, "59m59s"}, {3600, "1h00m"},      {86399, "23h59m"}, {86400, "1d00h"},
        {273600, "3d04h"},  {NAN, "-"},           {-1, "-"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++)
        assert_string_equal(amount_span(CASES[i].seconds).text, CASES[i].text);
}

static void moments_are_to_the_minute(void **state)
{
    (void)state;
    assert_string_equal(amount_moment(0).text, "1970-01-01 00:00 UTC");
    assert_string_equal(amount_moment(1795525259999).text, "2026-11-24 13:00 UTC");
    assert_string_equal(amount_moment(253402300799999).text, "9999-12-31 23:59 UTC");
    assert_string_equal(amount_moment(253402300800000).text, "-");
    assert_string_equal(amount_moment(UINT64_MAX).text, "-");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(amounts_have_three_digits_and_a_unit),
        cmocka_unit_test(spans_are_short),
        cmocka_unit_test(moments_are_to_the_minute),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
