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

static struct status_member members[100];
static struct status_link links[100];

static struct status_page page_of(size_t links_count, size_t members_count)
{
    struct status_page page = {.id = "6da36a14",
                               .stage = "running",
                               .trains = true,
                               .links = links,
                               .links_count = links_count,
                               .members = members,
                               .members_count = members_count};
    for (int i = 0; i < 100; i++) {
        (void)snprintf(links[i].id, sizeof links[i].id, "l%d", i);
        (void)snprintf(members[i].id, sizeof members[i].id, "m%d", i);
    }
    return page;
}

static char screen[16384];

static void draw(size_t links_count, size_t members_count, int rows, int columns)
{
    const struct status_page page = page_of(links_count, members_count);
    FILE *out = fmemopen(screen, sizeof screen, "w");
    top_draw(out, &page, rows, columns);
    assert_int_equal(fclose(out), 0);
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
