/* Differences between two status snapshots, and how they are shown. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "commands/status/changes.h"

static struct changes changes;

static int begin(void **state)
{
    (void)state;
    changes_free(&changes);
    changes = (struct changes){.before = NULL};
    return 0;
}

static void see(double now_s, const char *text)
{
    json_t *page = json_loads(text, 0, NULL);
    assert_non_null(page);
    changes_see(&changes, page, now_s);
    json_decref(page);
}

static void is_line(size_t i, double now_s, const char *wanted)
{
    char line[LATELY_TEXT_BYTES + 24];
    assert_true(i < changes.lately.count);
    assert_string_equal(lately_line(&changes.lately, i, now_s, line), wanted);
}

static void the_first_page_is_nothing_new(void **state)
{
    (void)state;
    see(1,
        "{\"id\":\"aa\",\"stage\":\"joining\",\"members\":[{\"id\":\"bb\",\"state\":\"live\"}]}");
    assert_int_equal(changes.lately.count, 0);
}

static void members_come_and_go(void **state)
{
    (void)state;
    see(1,
        "{\"members\":[{\"id\":\"bb\",\"state\":\"live\"},{\"id\":\"old\",\"state\":\"live\"}]}");
    see(2,
        "{\"members\":[{\"id\":\"bb\",\"state\":\"live\"},{\"id\":\"old\",\"state\":\"live\"}]}");
    assert_int_equal(changes.lately.count, 0);
    see(3, "{\"members\":[{\"id\":\"bb\",\"state\":\"dead\"},{\"id\":\"cc\",\"state\":\"live\"}]}");
    see(5, "{\"members\":[{\"id\":\"bb\",\"state\":\"live\"},{\"id\":\"cc\",\"state\":\"left\"}]}");
    assert_int_equal(changes.lately.count, 4);
    is_line(0, 5, "now: cc left");
    is_line(1, 7, "2.0 s ago: bb is back");
    is_line(2, 7, "4.0 s ago: cc joined");
    is_line(3, 123, "2m00s ago: bb fell silent");
}

static void the_node_itself_is_said_once(void **state)
{
    (void)state;
    see(1, "{\"stage\":\"joining\",\"members\":[]}");
    see(2, "{\"stage\":\"running\",\"members\":[{\"id\":\"aa\",\"is_self\":true,\"state\":\"live\"}"
           "]}");
    assert_int_equal(changes.lately.count, 1);
    is_line(0, 2, "now: this node was joining and is now running");
    see(3, "{\"stage\":\"running\",\"alone_reason\":\"refused\",\"members\":[]}");
    is_line(0, 3, "now: this node reaches none of its peers");
}

static void the_oldest_goes_when_there_are_too_many(void **state)
{
    (void)state;
    see(0, "{\"stage\":\"0\"}");
    for (int i = 1; i < 20; i++)
        see(i, i % 2 ? "{\"stage\":\"1\"}" : "{\"stage\":\"0\"}");
    assert_int_equal(changes.lately.count, LATELY_LINES);
    is_line(LATELY_LINES - 1, 19, "3.0 s ago: this node was 1 and is now 0");
}

static void names_of_others_cannot_speak_to_the_terminal(void **state)
{
    (void)state;
    see(1, "{\"members\":[]}");
    see(2, "{\"members\":[{\"id\":\"\\u001b[2J\\u00e9\",\"state\":\"live\"},{\"state\":7}, 3]}");
    is_line(0, 2, "now: ?[2J?? joined");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_first_page_is_nothing_new, begin),
        cmocka_unit_test_setup(members_come_and_go, begin),
        cmocka_unit_test_setup(the_node_itself_is_said_once, begin),
        cmocka_unit_test_setup(the_oldest_goes_when_there_are_too_many, begin),
        cmocka_unit_test_setup_teardown(names_of_others_cannot_speak_to_the_terminal, begin, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
