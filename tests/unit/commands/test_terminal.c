/* Detection of a terminal's capabilities. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "commands/terminal.h"

static int ours = -1, theirs = -1; /* the two ends of a pseudoterminal */

static int begin(void **state)
{
    (void)state;
    const struct winsize size = {.ws_row = 30, .ws_col = 100};
    ours = posix_openpt(O_RDWR | O_NOCTTY);
    assert_true(ours >= 0 && grantpt(ours) == 0 && unlockpt(ours) == 0);
    theirs = open(ptsname(ours), O_RDWR | O_NOCTTY);
    assert_true(theirs >= 0 && ioctl(theirs, TIOCSWINSZ, &size) == 0);
    (void)unsetenv("NO_COLOR");
    (void)unsetenv("LC_ALL");
    (void)unsetenv("LC_CTYPE");
    (void)setenv("LANG", "C", 1);
    (void)setenv("TERM", "xterm", 1);
    return 0;
}

static int end(void **state)
{
    (void)state;
    return close(theirs) | close(ours);
}

static void it_has_a_size_and_colours(void **state)
{
    (void)state;
    const struct terminal terminal = terminal_of(theirs);
    assert_int_equal(terminal.rows, 30);
    assert_int_equal(terminal.columns, 100);
    assert_true(terminal.has_color);
    assert_false(terminal.is_utf8);
}

static void no_color_leaves_colours_out_and_nothing_else(void **state)
{
    (void)state;
    (void)setenv("NO_COLOR", "1", 1);
    assert_false(terminal_of(theirs).has_color);
    assert_int_equal(terminal_of(theirs).rows, 30);
    (void)setenv("NO_COLOR", "", 1); /* an empty NO_COLOR does not turn colours off */
    assert_true(terminal_of(theirs).has_color);
}

static void a_dumb_one_or_none_cannot_be_drawn_on(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(terminal_of(ends[1]).rows, 0);
    assert_false(terminal_of(ends[1]).has_color);
    (void)setenv("TERM", "dumb", 1);
    assert_int_equal(terminal_of(theirs).rows, 0);
    assert_false(terminal_of(theirs).has_color);
    (void)unsetenv("TERM");
    assert_int_equal(terminal_of(theirs).rows, 0);
    (void)close(ends[0]);
    (void)close(ends[1]);
}

static void a_size_that_is_not_known_is_the_usual_one(void **state)
{
    (void)state;
    const struct winsize none = {0};
    assert_int_equal(ioctl(theirs, TIOCSWINSZ, &none), 0);
    assert_int_equal(terminal_of(theirs).rows, TERMINAL_ROWS);
    assert_int_equal(terminal_of(theirs).columns, TERMINAL_COLUMNS);
}

static void the_first_variable_that_is_set_names_the_encoding(void **state)
{
    (void)state;
    (void)setenv("LANG", "de_DE.UTF-8", 1);
    assert_true(terminal_of(theirs).is_utf8);
    (void)setenv("LC_CTYPE", "", 1);
    assert_true(terminal_of(theirs).is_utf8);
    (void)setenv("LC_ALL", "C", 1);
    assert_false(terminal_of(theirs).is_utf8);
    (void)setenv("LC_ALL", "C.utf8", 1);
    assert_true(terminal_of(theirs).is_utf8);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(it_has_a_size_and_colours),
        TEST(no_color_leaves_colours_out_and_nothing_else),
        TEST(a_dumb_one_or_none_cannot_be_drawn_on),
        TEST(a_size_that_is_not_known_is_the_usual_one),
        TEST(the_first_variable_that_is_set_names_the_encoding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
