/* A simulated node whose labels contradict those of the others. It names them, holds its
 * publications, and the others name it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "node/notes.h"
#include "support/sim/strategy_play.h"

#define NODES 4

static const char scenario[] = "[scenario]\n"
                               "seconds = 40\n"
                               "evaluate_s = 0\n"
                               "settle_s = 20\n"
                               "%s"
                               "nodes = 4 desk, 1280 samples/s\n"
                               "%s"
                               "[model]\n"
                               "layers = dense 32, relu, dense 10\n"
                               "[data]\n"
                               "source = generated\n"
                               "train_count = 8000\n"
                               "test_count = 500\n";

static struct played played;

static void play_lines(const char *key, const char *fault)
{
    char text[1024];
    (void)snprintf(text, sizeof text, scenario, key, fault);
    played = play_text(text, "gossip", NULL, 0);
}

/* Returns the last node's part of all published bytes. */
static double published_part(void)
{
    double all = 0;
    for (int i = 0; i < NODES; i++)
        all += (double)played.outcome.nodes[i].rumor_bytes_published;
    return (double)played.outcome.nodes[NODES - 1].rumor_bytes_published / all;
}

static bool is_named(int i)
{
    return played.outcome.nodes[i].warnings >> NOTE_SETTINGS & 1;
}

static void must_find(const char *fault)
{
    play_lines("skew = 0.5\n", fault);
    assert_true(played.outcome.alarms > 0);
    if (!strstr(played.outcome.alarm_text, "desk/4 at ") ||
        !strstr(played.outcome.alarm_text, "the labels of this node contradict the shared model") ||
        !strstr(played.outcome.alarm_text, "so it publishes nothing"))
        fail_msg("%s: %s", fault, played.outcome.alarm_text);
    assert_true(is_named(3));
    for (int i = 0; i < 3; i++)
        assert_false(is_named(i));
    assert_true(published_part() < 0.15);
    play_end(&played);
}

static void shifted_labels_are_named_and_held(void **state)
{
    (void)state;
    must_find("fault = ruin desk/4, with shifted labels, at 0 s\n");
}

static void shuffled_labels_are_named_and_held(void **state)
{
    (void)state;
    must_find("fault = ruin desk/4, with shuffled labels, at 0 s\n");
}

static void unlike_data_are_not_accused(void **state)
{
    static const char *const skews[] = {"skew = 0.5\n", "skew = 0.1\n"};
    (void)state;
    for (int i = 0; i < 2; i++) {
        play_lines(skews[i], "");
        if (played.outcome.alarms > 0)
            fail_msg("%s", played.outcome.alarm_text);
        for (int k = 0; k < NODES; k++)
            assert_false(is_named(k));
        play_end(&played);
    }
}

/* Labels and base have agreed before one member ruins the base. */
static void a_ruined_base_accuses_no_labels(void **state)
{
    (void)state;
    play_lines("", "fault = poison desk/4, with noise 100, from 20 s to 38 s\n");
    if (strstr(played.outcome.alarm_text, "the labels of this node"))
        fail_msg("%s", played.outcome.alarm_text);
    for (int i = 0; i < NODES; i++)
        assert_false(is_named(i));
    play_end(&played);
}

/* A restart gives the node its true labels again. */
static void a_corrected_node_publishes_again(void **state)
{
    (void)state;
    play_lines("", "fault = ruin desk/4, with shifted labels, at 0 s\n"
                   "fault = crash desk/4, at 12 s, back at 13 s\n");
    assert_true(published_part() > 0.15);
    play_end(&played);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shifted_labels_are_named_and_held),
        cmocka_unit_test(shuffled_labels_are_named_and_held),
        cmocka_unit_test(unlike_data_are_not_accused),
        cmocka_unit_test(a_ruined_base_accuses_no_labels),
        cmocka_unit_test(a_corrected_node_publishes_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
