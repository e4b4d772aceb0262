/* Messages to the operator: a node that is alone, and the notes before a failed CHECK. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/time_units.h"
#include "daemon/event_log.h"
#include "support/base/child.h"

static char said[16384]; /* standard error of the last child process */

static void open_log(struct event_log *report)
{
    struct problem problem;
    if (event_log_open(report, "", false, SECOND_NS, &problem) != OK)
        _exit(2);
}

static void fail_after_many_notes(void)
{
    struct event_log report = {0};
    open_log(&report);
    for (int i = 0; i < EVENT_LOG_LAST + 4; i++) {
        char text[32];
        (void)snprintf(text, sizeof text, "note number %d", i);
        event_log_say(&report, 3 * SECOND_NS, NOTE_SAVED, LEVEL_DEBUG, text);
    }
    event_log_say(&report, 4 * SECOND_NS, NOTE_SAVED, LEVEL_WARNING, "the disk is slow");
    int two = 1;
    CHECK(two == 2);
}

static void a_defect_shows_the_last_notes(void **state)
{
    (void)state;
    const int status = child_run(fail_after_many_notes, said, sizeof said);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    assert_non_null(strstr(said, "not (two == 2)\nbacktrace:\n"));
    const char *last = strstr(said, "the last notes:\n");
    assert_non_null(last);
    assert_null(strstr(last, "note number 4\n"));
    const char *first = strstr(last, "    2.000 note number 5\n");
    assert_non_null(first);
    assert_ptr_equal(strchr(last, '\n') + 1, first);
    assert_non_null(strstr(first, "note number 19\n    3.000 warning: the disk is slow\n"));
}

static void fail_after_the_log_is_closed(void)
{
    struct event_log report = {0};
    open_log(&report);
    event_log_close(&report);
    int two = 1;
    CHECK(two == 2);
}

static void a_closed_log_is_not_shown(void **state)
{
    (void)state;
    (void)child_run(fail_after_the_log_is_closed, said, sizeof said);
    assert_non_null(strstr(said, "backtrace:\n"));
    assert_null(strstr(said, "the last notes"));
}

/* Plays seconds 1 to 70 of a node with two peers. It has a neighbour only in second 30, and leaves
 * in second 60. */
static void talk_once(void)
{
    struct event_log report = {0};
    struct note note = {.kind = NOTE_DIAL_FAILED, .level = LEVEL_WARNING, .where = "192.0.2.7:1"};
    (void)strcpy(note.text, "cannot be reached: connection refused (try 1)");
    open_log(&report);
    reach_start(&report.reach, 2, SECOND_NS);
    event_log_note(&report, &note);
    note.kind = NOTE_NEIGHBOUR_LOST;
    (void)strcpy(note.text, "is no longer a neighbour: left");
    for (uint64_t second = 1; second <= 70; second++) {
        if (second == 31)
            event_log_note(&report, &note);
        const struct node_stats stats = {.phase = second < 60 ? NODE_RUNNING : NODE_LEAVING,
                                         .trains = second < 50,
                                         .steps = second,
                                         .samples_per_second = 1,
                                         .neighbours = second == 30};
        event_log_status(&report, second * SECOND_NS, &stats, 0.5);
    }
    event_log_close(&report);
}

static void a_node_that_reaches_nobody_says_so_in_its_line(void **state)
{
    (void)state;
    assert_int_equal(child_run(talk_once, said, sizeof said), 0);
    assert_non_null(strstr(said, "    0.000 1 steps, 1 samples/s"));
    assert_non_null(
        strstr(said, "   10.000 alone: no neighbour for 10 s "
                     "(192.0.2.7:1 cannot be reached: connection refused (try 1)); 11 steps, "));
    /* second 31: not alone, because the node had a neighbour a second ago */
    assert_non_null(strstr(said, "   30.000 31 steps"));
    assert_non_null(strstr(said, "   40.000 alone: no neighbour for 11 s "
                                 "(192.0.2.7:1 is no longer a neighbour: left); "));
    assert_non_null(strstr(said, "left); 51 steps, only relaying, neighbours 0, "));
    assert_non_null(strstr(said, "   60.000 61 steps, leaving, neighbours 0, "));
}

static void a_node_without_peers_or_without_a_failed_call_is_not_alone(void **state)
{
    (void)state;
    const struct note note = {.kind = NOTE_DIAL_FAILED, .text = "cannot be reached"};
    struct reach reach;
    reach_start(&reach, 0, SECOND_NS);
    reach_on_note(&reach, &note);
    assert_false(reach_is_alone(&reach, 100 * SECOND_NS));
    /* no dial has failed, as if the only configured peer were the node itself */
    reach_start(&reach, 1, SECOND_NS);
    assert_false(reach_is_alone(&reach, 100 * SECOND_NS));
    reach_on_note(&reach, &note);
    assert_false(reach_is_alone(&reach, SECOND_NS + REACH_ALONE_NS - 1));
    assert_true(reach_is_alone(&reach, SECOND_NS + REACH_ALONE_NS));
}

static void a_refusal_by_former_neighbours_is_the_reason_even_without_configured_peers(void **state)
{
    (void)state;
    const uint64_t late = 2 * SECOND_NS + REACH_ALONE_NS;
    const struct note silent = {.kind = NOTE_NEIGHBOUR_LOST, .text = "silent"};
    const struct note refused = {.kind = NOTE_NEIGHBOUR_LOST,
                                 .certainty = NOTE_LASTING,
                                 .where = "192.0.2.7:1",
                                 .text = "not on the list"};
    struct reach reach;
    reach_start(&reach, 0, SECOND_NS);
    reach_on_neighbours(&reach, 2 * SECOND_NS, 2);
    reach_on_note(&reach, &silent);
    assert_false(reach_is_alone(&reach, late));
    reach_on_note(&reach, &refused);
    reach_on_note(&reach, &silent);
    assert_false(reach_is_alone(&reach, late - 1));
    assert_true(reach_is_alone(&reach, late));
    assert_string_equal(reach.why, "192.0.2.7:1 not on the list");
    assert_false(reach_is_shut_out(&reach, late));
    reach_on_neighbours(&reach, late, 1);
    assert_false(reach_is_alone(&reach, late + REACH_ALONE_NS)); /* the reason is outdated */
}

static void a_peer_of_another_model_shuts_out_who_never_had_a_neighbour(void **state)
{
    (void)state;
    const uint64_t late = SECOND_NS + REACH_ALONE_NS;
    const struct note failed = {.kind = NOTE_DIAL_FAILED, .text = "connection refused"};
    const struct note other = {.kind = NOTE_MISMATCH,
                               .certainty = NOTE_LASTING,
                               .where = "192.0.2.7:1",
                               .text = "other model"};
    struct reach reach;
    reach_start(&reach, 2, SECOND_NS);
    reach_on_note(&reach, &failed);
    /* no peer has refused: a failed dial is no refusal */
    assert_false(reach_is_shut_out(&reach, late));
    reach_on_note(&reach, &other);
    reach_on_note(&reach, &failed);
    assert_false(reach_is_shut_out(&reach, late - 1));
    assert_true(reach_is_shut_out(&reach, late));
    assert_string_equal(reach.why, "192.0.2.7:1 other model");
    reach_on_neighbours(&reach, 2 * SECOND_NS, 1);
    reach_on_note(&reach, &other);
    assert_true(reach_is_alone(&reach, late + SECOND_NS));
    /* The node has had a neighbour, so it continues training. */
    assert_false(reach_is_shut_out(&reach, late + SECOND_NS));
}

static void end_with_two_scores(void)
{
    struct event_log report = {0};
    const struct final final = {.id = "a",
                                .version = "v",
                                .parameters = 1,
                                .evaluation = {.samples = 10000, .correct = 8881, .loss = 0.3182},
                                .averaged = {.samples = 10000, .correct = 8900, .loss = 0.31},
                                .part = {.samples = 2000, .correct = 1797, .loss = 0.3},
                                .last = {.samples = 2000, .correct = 1768, .loss = 0.35}};
    open_log(&report);
    event_log_final(&report, 2 * SECOND_NS, &final);
    _exit(0);
}

static void the_final_score_and_the_comparison_with_evaluations_have_a_line_each(void **state)
{
    (void)state;
    (void)child_run(end_with_two_scores, said, sizeof said);
    assert_non_null(strstr(said, "; accuracy 88.81 %, loss 0.3182 on 10000 test samples; averaged: "
                                 "accuracy 89.00 %, loss 0.3100\n"));
    assert_non_null(strstr(said,
                           "\n    1.000 compared on the 2000 test samples of the evaluations: at "
                           "the end 89.85 %, loss 0.3000; in the last evaluation 88.40 %, loss "
                           "0.3500\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_defect_shows_the_last_notes),
        cmocka_unit_test(a_closed_log_is_not_shown),
        cmocka_unit_test(a_node_that_reaches_nobody_says_so_in_its_line),
        cmocka_unit_test(a_node_without_peers_or_without_a_failed_call_is_not_alone),
        cmocka_unit_test(
            a_refusal_by_former_neighbours_is_the_reason_even_without_configured_peers),
        cmocka_unit_test(the_final_score_and_the_comparison_with_evaluations_have_a_line_each),
        cmocka_unit_test(a_peer_of_another_model_shuts_out_who_never_had_a_neighbour),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
