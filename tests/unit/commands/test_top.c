/* One screen of hearsay top: what fits, and what is left out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "commands/status/top.h"

#define NODE_LINES 10

static json_t *rows_of(char letter, size_t count)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < count; i++)
        assert_int_equal(
            json_array_append_new(rows, json_pack("{s:o}", "id", json_sprintf("%c%zu", letter, i))),
            0);
    return rows;
}

static char screen[16384];

static void draw(size_t links_count, size_t members_count, int rows, int columns)
{
    json_t *page =
        json_pack("{s:s, s:s, s:b, s:o, s:o}", "id", "6da36a14", "stage", "running", "trains", 1,
                  "links", rows_of('l', links_count), "members", rows_of('m', members_count));
    FILE *out = fmemopen(screen, sizeof screen, "w");
    assert_non_null(page);
    top_draw(out, page, rows, columns);
    assert_int_equal(fclose(out), 0);
    json_decref(page);
}

static int lines(void)
{
    int count = 0;
    for (const char *at = screen; (at = strchr(at, '\n')); at++)
        count++;
    return count;
}

static void a_small_swarm_fits_whole(void **state)
{
    (void)state;
    draw(3, 4, 24, 80);
    assert_int_equal(lines(), NODE_LINES + 1 + 4 + 1 + 5);
    assert_non_null(strstr(screen, "\nl2 "));
    assert_non_null(strstr(screen, "\nm3 "));
    assert_null(strstr(screen, "more\n"));
}

static void no_screen_has_more_lines_than_the_terminal(void **state)
{
    (void)state;
    for (int rows = 1; rows < 60; rows++)
        for (size_t count = 0; count < 40; count += 13) {
            draw(count, 40 - count, rows, 80);
            assert_true(lines() <= rows);
            draw(count, 40, rows, 80);
            assert_true(lines() <= rows);
        }
}

static void what_does_not_fit_is_counted(void **state)
{
    (void)state;
    draw(50, 60, 24, 80);
    assert_int_equal(lines(), 24);
    /* 12 lines for both tables: 6 each, with a heading and a last line */
    assert_non_null(strstr(screen, "\nl3 "));
    assert_null(strstr(screen, "\nl4 "));
    assert_non_null(strstr(screen, "  and 46 more\n\nMEMBER"));
    assert_non_null(strstr(screen, "\nm3 "));
    assert_null(strstr(screen, "\nm4 "));
    assert_non_null(strstr(screen, "  and 56 more\n"));
}

static void room_that_one_table_leaves_goes_to_the_other(void **state)
{
    (void)state;
    draw(50, 2, 24, 80);
    assert_int_equal(lines(), 24);
    assert_non_null(strstr(screen, "\nl6 "));
    assert_non_null(strstr(screen, "\nm1 "));
    draw(1, 50, 24, 80);
    assert_int_equal(lines(), 24);
    assert_non_null(strstr(screen, "\nl0 "));
    assert_non_null(strstr(screen, "\nm7 "));
}

static void no_line_is_longer_than_the_terminal_is_wide(void **state)
{
    (void)state;
    draw(3, 4, 24, 40);
    for (char *line = strtok(screen, "\n"); line; line = strtok(NULL, "\n"))
        assert_true(strlen(line) <= 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_small_swarm_fits_whole),
        cmocka_unit_test(no_screen_has_more_lines_than_the_terminal),
        cmocka_unit_test(what_does_not_fit_is_counted),
        cmocka_unit_test(room_that_one_table_leaves_goes_to_the_other),
        cmocka_unit_test(no_line_is_longer_than_the_terminal_is_wide),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
