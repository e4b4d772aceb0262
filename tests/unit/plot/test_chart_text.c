/* A chart drawn with characters. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "plot/chart_text.h"
#include "plot/utf8.h"

static const double X[] = {0, 5, 10}, FALLS[] = {2, 1, 0}, RISES[] = {0, 1, 2};
static const struct curve CURVES[] = {{"falls", X, FALLS, 3}, {"rises", X, RISES, 3}};

/* Returns the chart as text. The caller frees it. */
static char *drawn(size_t curves, struct chart_text_style style)
{
    const struct chart chart = {
        .title = "", .x_name = "seconds", .y_name = "loss", .curves = CURVES, .count = curves};
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    assert_non_null(out);
    chart_text_write(out, &chart, &style);
    assert_int_equal(fclose(out), 0);
    return text;
}

static void one_curve_in_ascii(void **state)
{
    (void)state;
    char *text = drawn(1, (struct chart_text_style){.rows = 8, .columns = 20});
    assert_string_equal(text, "         loss\n"
                              "      2 |':.       \n"
                              "        |  ''..    \n"
                              "        |     ':.  \n"
                              "      0 |        '.\n"
                              "        +----------\n"
                              "         0    5  10\n"
                              "         seconds\n"
                              "  -- falls\n");
    free(text);
}

static void one_point_far_to_the_right_has_an_axis(void **state)
{
    const double far = 1e17, one = 1;
    const struct curve point = {"far", &far, &one, 1};
    const struct chart chart = {
        .title = "", .x_name = "samples", .y_name = "loss", .curves = &point, .count = 1};
    const struct bounds bounds = chart_bounds(&chart);
    (void)state;
    assert_true(bounds.left <= far && far < bounds.right);
}

static void without_colours_letters_tell_curves_apart(void **state)
{
    (void)state;
    char *text = drawn(2, (struct chart_text_style){.rows = 12, .columns = 40, .is_utf8 = true});
    assert_null(strchr(text, '\033'));
    assert_non_null(strstr(text, "  a  falls  b  rises\n"));
    assert_non_null(strstr(text, "2 │aa"));
    free(text);
}

static void with_colours_each_has_its_own(void **state)
{
    (void)state;
    char *text = drawn(2, (struct chart_text_style){
                              .rows = 12, .columns = 40, .is_utf8 = true, .has_color = true});
    assert_non_null(strstr(text, "\033[36m  ──\033[m falls"));
    assert_non_null(strstr(text, "\033[33m  ──\033[m rises"));
    assert_non_null(strstr(text, "\033[36m⠑"));
    free(text);
}

/* Names of curves come from files that other people wrote. */
static void a_name_cannot_control_the_terminal(void **state)
{
    static const struct curve curve = {"a\033[2J\n\x7f\xc2\x9b\xff\xef\xbf\xbf\xc2\xa9 ё", X, FALLS,
                                       3};
    const struct chart chart = {
        .title = "", .x_name = "seconds", .y_name = "loss", .curves = &curve, .count = 1};
    const struct chart_text_style style = {.rows = 8, .columns = 40};
    char *text = NULL;
    size_t bytes = 0;
    (void)state;
    FILE *out = open_memstream(&text, &bytes);
    assert_non_null(out);
    chart_text_write(out, &chart, &style);
    assert_int_equal(fclose(out), 0);
    assert_non_null(strstr(text, "  -- a?[2J?????© ё\n"));
    free(text);
}

static void no_line_is_longer_than_the_terminal_is_wide(void **state)
{
    (void)state;
    for (int columns = CHART_TEXT_COLUMNS_MIN; columns < 250; columns += 3)
        for (int rows = CHART_TEXT_ROWS_MIN; rows < 70; rows += 3) {
            char *text = drawn(2, (struct chart_text_style){.rows = rows, .columns = columns});
            for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
                assert_in_range(utf8_columns(line), 0, columns);
            free(text);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_curve_in_ascii),
        cmocka_unit_test(one_point_far_to_the_right_has_an_axis),
        cmocka_unit_test(without_colours_letters_tell_curves_apart),
        cmocka_unit_test(with_colours_each_has_its_own),
        cmocka_unit_test(a_name_cannot_control_the_terminal),
        cmocka_unit_test(no_line_is_longer_than_the_terminal_is_wide),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
