/* Curves and bars drawn with characters. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "plot/bar.h"
#include "plot/dots.h"

static char text[1024];

static const char *row_of(const struct dots *dots, int row)
{
    FILE *out = fmemopen(text, sizeof text, "w");
    assert_non_null(out);
    dots_print_row(dots, out, row);
    assert_int_equal(fclose(out), 0);
    return text;
}

static void a_curve_lies_where_its_values_are(void **state)
{
    (void)state;
    struct dots dots = {.rows = 2, .columns = 4, .right = 8, .high = 1, .is_utf8 = true};
    const double x[] = {0, 8}, y[] = {0, 1};
    dots_curve(&dots, x, y, 2);
    assert_string_equal(row_of(&dots, 0), "  ⡠⠊");
    assert_string_equal(row_of(&dots, 1), "⡠⠊  ");
}

static void a_curve_has_no_gap(void **state)
{
    (void)state;
    struct dots dots = {.rows = 4, .columns = 1, .right = 1, .high = 1, .is_utf8 = true};
    const double x[] = {0, 1}, y[] = {1, 0};
    dots_curve(&dots, x, y, 2);
    for (int row = 0; row < 4; row++)
        assert_string_not_equal(row_of(&dots, row), " ");
}

static void a_single_point_is_a_dot(void **state)
{
    (void)state;
    struct dots dots = {.rows = 1, .columns = 2, .right = 1, .high = 1, .is_utf8 = true};
    const double x[] = {0}, y[] = {0};
    dots_curve(&dots, x, y, 1);
    assert_string_equal(row_of(&dots, 0), "⡀ ");
}

static void values_beyond_the_frame_are_clamped_or_skipped(void **state)
{
    (void)state;
    struct dots dots = {.rows = 1, .columns = 2, .right = 1, .high = 1, .is_utf8 = true};
    const double x[] = {-1, 0, 1, 2}, y[] = {0, 9, 9, 0};
    dots_curve(&dots, x, y, 4);
    assert_string_equal(row_of(&dots, 0), "⠉⠉");
}

static void without_utf8_it_is_ascii(void **state)
{
    (void)state;
    struct dots dots = {.rows = 1, .columns = 4, .right = 8, .high = 1};
    const double x[] = {0, 8}, y[] = {0, 1};
    dots_curve(&dots, x, y, 2);
    assert_string_equal(row_of(&dots, 0), "..''");
}

static const char *bar(double part, int columns, bool is_utf8)
{
    FILE *out = fmemopen(text, sizeof text, "w");
    assert_non_null(out);
    bar_print(out, part, columns, is_utf8);
    assert_int_equal(fclose(out), 0);
    return text;
}

static void a_bar_is_as_long_as_its_part(void **state)
{
    (void)state;
    assert_string_equal(bar(0.5, 4, true), "██░░");
    assert_string_equal(bar(0.3125, 4, true), "█▎░░");
    assert_string_equal(bar(2, 3, true), "███");
    assert_string_equal(bar(-1, 3, true), "░░░");
    assert_string_equal(bar(0.5, 4, false), "##..");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_curve_lies_where_its_values_are),
        cmocka_unit_test(a_curve_has_no_gap),
        cmocka_unit_test(a_single_point_is_a_dot),
        cmocka_unit_test(values_beyond_the_frame_are_clamped_or_skipped),
        cmocka_unit_test(without_utf8_it_is_ascii),
        cmocka_unit_test(a_bar_is_as_long_as_its_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
