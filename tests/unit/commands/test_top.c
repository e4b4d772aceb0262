/* One screen of hearsay top: which rows fit, and which are left out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "commands/status/top_view.h"
#include "plot/utf8.h"

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

static char screen[65536];
static struct top_view view;

static int begin(void **state)
{
    (void)state;
    top_view_free(&view);
    view = (struct top_view){.loss.count = 0};
    return 0;
}

static json_t *page_of(size_t links_count, size_t members_count)
{
    json_t *page =
        json_pack("{s:s, s:s, s:b, s:o, s:o}", "id", "6da36a14", "stage", "running", "trains", 1,
                  "links", rows_of('l', links_count), "members", rows_of('m', members_count));
    assert_non_null(page);
    return page;
}

static void draw_page(const json_t *page, struct terminal terminal, double now_s)
{
    FILE *out = fmemopen(screen, sizeof screen, "w");
    assert_non_null(out);
    top_view_draw(&view, out, page, now_s, &terminal);
    assert_int_equal(fclose(out), 0);
}

static void draw(size_t links_count, size_t members_count, int rows, int columns)
{
    json_t *page = page_of(links_count, members_count);
    draw_page(page, (struct terminal){.rows = rows, .columns = columns}, 1000);
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

static void counts_the_rows_that_do_not_fit(void **state)
{
    (void)state;
    draw(50, 60, 24, 80);
    assert_int_equal(lines(), 24);
    /* 12 lines for two tables, 6 each: a heading, four rows, and the number of hidden rows */
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

/* Returns the snapshot of a node that has lost a member while it was watched. */
static json_t *watched(void)
{
    json_t *page = page_of(3, 4);
    for (int s = 0; s < 100; s++) {
        json_t *next = json_deep_copy(page);
        (void)json_object_set_new(next, "loss", json_real(2 - 0.01 * s));
        json_t *members = json_object_get(next, "members");
        for (size_t i = 0; i < 4; i++) {
            json_t *member = json_array_get(members, i);
            (void)json_object_set_new(member, "samples", json_integer(100 * (json_int_t)(i + 1)));
            (void)json_object_set_new(member, "state",
                                      json_string(s > 50 && i == 3 ? "left" : "live"));
        }
        json_decref(page);
        page = next;
        top_view_see(&view, page, s);
    }
    return page;
}

static int columns_of(char *line)
{
    for (char *at = line; (at = strchr(at, '\033'));) {
        char *end = strchr(at, 'm');
        assert_non_null(end);
        memmove(at, end + 1, strlen(end));
    }
    return (int)utf8_columns(line);
}

static void no_line_is_longer_than_the_terminal_is_wide(void **state)
{
    (void)state;
    json_t *page = watched();
    for (int columns = 20; columns < 200; columns += 7)
        for (int rows = 1; rows < 60; rows += 3) {
            draw_page(page, (struct terminal){rows, columns, true, true}, 100);
            assert_true(lines() <= rows);
            for (char *line = strtok(screen, "\n"); line; line = strtok(NULL, "\n"))
                assert_in_range(columns_of(line), 0, columns);
        }
    json_decref(page);
}

static void a_curve_bars_and_what_was_new_are_shown(void **state)
{
    (void)state;
    json_t *page = watched();
    draw_page(page, (struct terminal){.rows = 40, .columns = 80}, 100);
    assert_non_null(strstr(screen, "\n    2.0 |"));
    assert_non_null(strstr(screen, "\n    1.0 |"));
    assert_non_null(strstr(screen, "\nm1       live  #####.....................  20 % "));
    assert_non_null(strstr(screen, "\n49.0 s ago: m3 left\n"));
    json_decref(page);
}

static void sixty_columns_have_room_for_the_bars(void **state)
{
    (void)state;
    json_t *page = watched();
    draw_page(page, (struct terminal){.rows = 24, .columns = 60}, 100);
    assert_int_equal(lines(), 24);
    assert_non_null(
        strstr(screen, "\nm1       live  #.....  20 %      200         -      -      -\n"));
    assert_null(strstr(screen, "\033"));
    json_decref(page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_small_swarm_fits_whole, begin),
        cmocka_unit_test_setup(no_screen_has_more_lines_than_the_terminal, begin),
        cmocka_unit_test_setup(counts_the_rows_that_do_not_fit, begin),
        cmocka_unit_test_setup(room_that_one_table_leaves_goes_to_the_other, begin),
        cmocka_unit_test_setup(no_line_is_longer_than_the_terminal_is_wide, begin),
        cmocka_unit_test_setup(a_curve_bars_and_what_was_new_are_shown, begin),
        cmocka_unit_test_setup(sixty_columns_have_room_for_the_bars, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
