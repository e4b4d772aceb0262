/* Ruined training in a simulated swarm: each way takes effect, and guards report it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support/sim/strategy_play.h"

/* There are no evaluations, so only the nodes' own guards warn. 500 steps take 25 s. */
static const char scenario[] = "[scenario]\n"
                               "seconds = 60\n"
                               "evaluate_s = 0\n"
                               "settle_s = 20\n"
                               "nodes = 2 desk, 640 samples/s\n"
                               "%s"
                               "[model]\n"
                               "layers = dense 16, relu, dense 10\n"
                               "[data]\n"
                               "source = generated\n"
                               "train_count = 600\n"
                               "test_count = 200\n";

static struct played played;

static void play_line(const char *line)
{
    char text[1024];
    (void)snprintf(text, sizeof text, scenario, line);
    played = play_text(text, "gossip", NULL, 0);
}

static void must_warn(const char *line, const char *words)
{
    play_line(line);
    if (played.outcome.alarms == 0 || played.outcome.alarm_s <= 30 || played.outcome.alarm_s > 55)
        fail_msg("%s: %u alarms; %s", line, (unsigned)played.outcome.alarms,
                 played.outcome.alarm_text);
    if (!strstr(played.outcome.alarm_text, words))
        fail_msg("%s: %s", line, played.outcome.alarm_text);
    play_end(&played);
}

static void a_swarm_that_learns_raises_no_alarm(void **state)
{
    (void)state;
    play_line("");
    assert_int_equal(played.outcome.alarms, 0);
    play_end(&played);
}

static void a_rate_that_is_far_too_high_is_reported_within_500_steps(void **state)
{
    (void)state;
    must_warn("fault = ruin desk/1, with rate, at 30 s\n", "desk/");
    must_warn("fault = ruin all, with rate 50, at 30 s\n", "desk/");
}

static void shuffled_labels_are_reported_within_500_steps(void **state)
{
    (void)state;
    must_warn("fault = ruin desk/2, with shuffled labels, at 30 s\n", "desk/2 at ");
    must_warn("fault = ruin all, with shuffled labels, at 30 s\n",
              "the training loss here has risen to ");
}

static void a_dead_layer_is_reported_within_500_steps(void **state)
{
    (void)state;
    must_warn("fault = ruin all, with dead layer, at 30 s\n", "the model is dead");
}

static void a_restart_repairs_training(void **state)
{
    (void)state;
    play_line("fault = ruin desk/1, with shuffled labels, at 30 s\n"
              "fault = crash desk/1, at 31 s, back at 32 s\n");
    assert_int_equal(played.outcome.alarms, 0);
    play_end(&played);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_swarm_that_learns_raises_no_alarm),
        cmocka_unit_test(a_rate_that_is_far_too_high_is_reported_within_500_steps),
        cmocka_unit_test(shuffled_labels_are_reported_within_500_steps),
        cmocka_unit_test(a_dead_layer_is_reported_within_500_steps),
        cmocka_unit_test(a_restart_repairs_training),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
