/* A snapshot as JSON, and the page that contains it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <jansson.h>
#include <math.h>
#include <stdio.h>

#include "page/page.h"
#include "page/page_snapshot.h"

static char *page_of(json_t *snapshot, size_t *bytes)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, bytes);
    assert_non_null(out);
    page_write(out, snapshot);
    assert_int_equal(fclose(out), 0);
    json_decref(snapshot);
    return text;
}

static void the_page_is_whole_and_small_and_asks_nobody(void **state)
{
    size_t bytes;
    (void)state;
    const char *page = page_live(&bytes);
    assert_in_range(bytes, 50000, 300 * 1024);
    assert_int_equal(strlen(page), bytes);
    assert_null(strstr(page, "@PAGE_"));
    assert_null(strstr(page, "@DYGRAPH_"));
    assert_non_null(strstr(page, "</html>"));
    assert_null(strstr(page, "src=\"http"));
    assert_null(strstr(page, "sourceMappingURL"));
}

static void a_story_is_in_the_page_and_cannot_end_its_element(void **state)
{
    size_t bytes, live_bytes;
    (void)state;
    const char *evil = "</script><script>alert(1)</script><!--";
    const char *live = page_live(&live_bytes);
    char *page = page_of(page_snapshot_new("play", evil, evil), &bytes);
    assert_true(bytes > live_bytes);
    assert_non_null(strstr(page, "\"kind\":\"play\""));
    assert_null(strstr(page, "alert(1)</script>"));
    assert_non_null(strstr(page, "\\u003c/script>\\u003cscript>alert(1)"));
    size_t ends = 0, live_ends = 0;
    for (const char *at = page; (at = strstr(at, "</script")); at++)
        ends++;
    for (const char *at = live; (at = strstr(at, "</script")); at++)
        live_ends++;
    assert_int_equal(ends, live_ends);
    free(page);
}

static void unknown_values_are_null_and_invalid_utf8_is_replaced(void **state)
{
    (void)state;
    json_t *snapshot = page_snapshot_new("play",
                                         "a\xff"
                                         "b",
                                         "");
    json_t *figure = page_snapshot_figure(
        snapshot,
        &(struct page_snapshot_figure){"loss", "Loss", "", "time (s)", "loss", false, false});
    json_t *series = page_snapshot_series(figure, "mean", "line");
    page_snapshot_point(series, 1, (double)NAN);
    page_snapshot_point_between(series, 2, 3, 2.5, 3.5);
    assert_string_equal(json_string_value(json_object_get(snapshot, "title")), "a?b");
    const json_t *points = json_object_get(series, "points");
    assert_true(json_is_null(json_array_get(json_array_get(points, 0), 1)));
    assert_int_equal(json_array_size(json_array_get(points, 1)), 4);
    assert_true(json_real_value(json_array_get(json_array_get(points, 1), 3)) == 3.5);
    json_decref(snapshot);
}

static void cells_fill_rows(void **state)
{
    static const char *const HEADS[] = {"a", "b", NULL};
    (void)state;
    json_t *snapshot = page_snapshot_new("play", "", "");
    json_t *table = page_snapshot_table(snapshot, "t", NULL, HEADS, 1);
    for (int i = 0; i < 5; i++)
        page_snapshot_cell(table, "x");
    const json_t *rows = json_object_get(table, "rows");
    assert_int_equal(json_array_size(rows), 3);
    assert_int_equal(json_array_size(json_array_get(rows, 0)), 2);
    assert_int_equal(json_array_size(json_array_get(rows, 2)), 1);
    json_decref(snapshot);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_page_is_whole_and_small_and_asks_nobody),
        cmocka_unit_test(a_story_is_in_the_page_and_cannot_end_its_element),
        cmocka_unit_test(unknown_values_are_null_and_invalid_utf8_is_replaced),
        cmocka_unit_test(cells_fill_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
