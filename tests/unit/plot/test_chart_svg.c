/* A chart as SVG. tests/process/test_plot.sh tests whether it is well-formed and looks right. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "plot/chart_svg.h"
#include "plot/utf8.h"

#define MANY 100000

/* Returns the chart as SVG. The caller frees it. */
static char *drawn(const struct chart *chart)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    assert_non_null(out);
    chart_svg_write(out, chart);
    assert_int_equal(fclose(out), 0);
    return text;
}

static void holds(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("not \"%s\" in:\n%.3000s", part, text);
}

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, part)); at++)
        count++;
    return count;
}

static void points_lie_where_they_should(void **state)
{
    (void)state;
    const double x[] = {0, 50, 100}, y[] = {0, 1, 0};
    const struct curve curve = {"a", x, y, 3};
    const struct chart chart = {
        .title = "", .x_name = "seconds", .y_name = "loss", .curves = &curve, .count = 1};
    char *text = drawn(&chart);
    holds(text,
          /* the frame is from 72 to 780 and from 36 to 396 */
          "points=\"72.0,396.0 426.0,36.0 780.0,396.0\"");
    holds(text, ">100</text>");
    holds(text, ">0.2</text>");
    holds(text, ">seconds</text>");
    holds(text, ">loss</text>");
    free(text);
}

static void names_cannot_leave_their_element(void **state)
{
    (void)state;
    const double x[] = {1, 2}, y[] = {1, 2};
    const struct curve curve = {"</text><script>&\"\001\xff\xc0\x80\xef\xbf\xbe ё", x, y, 2};
    const struct chart chart = {
        .title = "<b>", .x_name = "&", .y_name = ">", .curves = &curve, .count = 1};
    char *text = drawn(&chart);
    assert_null(strstr(text, "<script"));
    holds(text, ">&lt;/text&gt;&lt;script&gt;&amp;\"????? ё</text>");
    holds(text, "<title>&lt;b&gt;</title>");
    free(text);
}

static void a_long_curve_stays_small_and_keeps_its_extremes(void **state)
{
    (void)state;
    double *x = calloc(MANY, sizeof *x), *y = calloc(MANY, sizeof *y);
    assert_true(x && y);
    for (int i = 0; i < MANY; i++) {
        x[i] = i;
        y[i] = 0.5;
    }
    y[12345] = 1; /* one point of a hundred thousand */
    const struct curve curve = {"a", x, y, MANY};
    const struct chart chart = {
        .title = "", .x_name = "x", .y_name = "y", .curves = &curve, .count = 1};
    char *text = drawn(&chart);
    assert_true(strlen(text) < 30000);
    holds(text, ",36.0 "); /* the curve reaches the top of the frame */
    free(text);
    free(x);
    free(y);
}

static void more_curves_than_colours_are_dashed(void **state)
{
    (void)state;
    const double x[] = {0, 1}, y[] = {0, 1};
    struct curve curves[CHART_CURVES_MAX];
    for (size_t k = 0; k < CHART_CURVES_MAX; k++)
        curves[k] = (struct curve){"a curve with a name", x, y, 2};
    const struct chart chart = {
        .title = "t", .x_name = "x", .y_name = "y", .curves = curves, .count = CHART_CURVES_MAX};
    char *text = drawn(&chart);
    assert_int_equal(count_of(text, "<polyline"), CHART_CURVES_MAX);
    assert_int_equal(count_of(text, "a curve with a name"), CHART_CURVES_MAX);
    assert_true(count_of(text, "stroke-dasharray") > 2 * 40);
    free(text);
}

static void without_points_there_is_a_frame(void **state)
{
    (void)state;
    const struct curve curve = {"a", NULL, NULL, 0};
    const struct chart chart = {
        .title = "", .x_name = "x", .y_name = "y", .curves = &curve, .count = 1};
    char *text = drawn(&chart);
    holds(text, "</svg>");
    assert_null(strstr(text, "nan"));
    assert_null(strstr(text, "inf"));
    free(text);
}

static void a_given_range_is_the_frame(void **state)
{
    (void)state;
    const double x[] = {0, 1, 2}, y[] = {0, 0.8, 5};
    const struct curve curve = {"a", x, y, 3};
    const struct chart chart = {.title = "",
                                .x_name = "x",
                                .y_name = "y",
                                .curves = &curve,
                                .count = 1,
                                .has_range = true,
                                .low = 0.7,
                                .high = 0.9};
    char *text = drawn(&chart);
    holds(text, "points=\"72.0,396.0 426.0,216.0 780.0,36.0\"");
    free(text);
}

static void characters_are_told_from_bytes(void **state)
{
    (void)state;
    assert_int_equal(utf8_length("a"), 1);
    assert_int_equal(utf8_length("ё"), 2);
    assert_int_equal(utf8_length("│"), 3);
    assert_int_equal(utf8_length("\xf0\x9f\x90\x8c"), 4);
    const char *const wrong[] = {"\x80",     "\xc1\x81",         "\xe0\x80\x80", "\xed\xa0\x80",
                                 "\xe2\x94", "\xf4\x90\x80\x80", "\xff",         "\xf0\x9f\x90"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(utf8_length(wrong[i]), 0);
    assert_int_equal(utf8_columns("aё│\xff"), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_lie_where_they_should),
        cmocka_unit_test(names_cannot_leave_their_element),
        cmocka_unit_test(a_long_curve_stays_small_and_keeps_its_extremes),
        cmocka_unit_test(more_curves_than_colours_are_dashed),
        cmocka_unit_test(without_points_there_is_a_frame),
        cmocka_unit_test(a_given_range_is_the_frame),
        cmocka_unit_test(characters_are_told_from_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
