/* When a swarm on this machine ends: by its progress, not by the clock. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "commands/swarm/swarm_goal.h"
#include "commands/swarm/swarm_score.h"

/* Two nodes, each with 100 samples in its part of the test set. */
static struct swarm_node nodes[2];

static struct swarm_goal goal_of(double target, double seconds, uint64_t samples)
{
    for (int i = 0; i < 2; i++)
        nodes[i] = (struct swarm_node){.pid = 1, .tested = 100};
    return (struct swarm_goal){.target = target, .seconds = seconds, .samples = samples};
}

/* Sets the samples that both nodes together have trained on, and gives each a new evaluation. */
static void evaluate(uint64_t samples, uint64_t correct)
{
    for (int i = 0; i < 2; i++) {
        nodes[i].samples = samples / 2;
        nodes[i].correct = correct;
        nodes[i].evaluations++;
    }
}

static enum swarm_end judge(struct swarm_goal *goal, double seconds)
{
    return swarm_goal_judge(goal, nodes, 2, seconds);
}

static void the_target_is_held_for_three_rounds(void **state)
{
    (void)state;
    struct swarm_goal goal = goal_of(0.8, 0, 0);
    evaluate(10000, 90);
    assert_int_equal(judge(&goal, 4), SWARM_GOES_ON);
    /* without a new evaluation, this is the same round */
    assert_int_equal(judge(&goal, 5), SWARM_GOES_ON);
    evaluate(20000, 90);
    assert_int_equal(judge(&goal, 8), SWARM_GOES_ON);
    evaluate(30000, 79);
    /* the low score ends the row, so the next three rounds are counted from here */
    assert_int_equal(judge(&goal, 12), SWARM_GOES_ON);
    for (uint64_t round = 4; round < 6; round++) {
        evaluate(10000 * round, 90);
        assert_int_equal(judge(&goal, 16), SWARM_GOES_ON);
    }
    evaluate(60000, 90);
    assert_int_equal(judge(&goal, 24), SWARM_TARGET_HELD);
}

static void a_round_waits_for_the_last_node(void **state)
{
    (void)state;
    struct swarm_goal goal = goal_of(0.8, 0, 0);
    for (uint64_t round = 1; round <= 5; round++) {
        evaluate(10000 * round, 90);
        nodes[1].evaluations = 1;
        assert_int_equal(judge(&goal, 4), SWARM_GOES_ON);
    }
    assert_int_equal(goal.rounds_above, 1);
}

/* A round does not count if fewer than GOAL_APART samples were learned since the last round that
 * counted. On a busy machine evaluations follow the clock, while the model barely changes. */
static void rounds_lie_samples_apart(void **state)
{
    (void)state;
    struct swarm_goal goal = goal_of(0.8, 0, 0);
    uint64_t samples = 10000;
    for (int round = 1; round <= 10; round++) {
        evaluate(samples, 90);
        assert_int_equal(judge(&goal, 4 * round), SWARM_GOES_ON);
        samples += 100;
    }
    assert_int_equal(goal.rounds_above, 1);
}

/* At train.samples_max training ends. The model cannot change afterwards, so all rounds count. */
static void a_swarm_that_has_learned_all_is_judged_as_it_is(void **state)
{
    (void)state;
    struct swarm_goal goal = goal_of(0.8, 0, 0);
    for (int round = 1; round <= 2; round++) {
        evaluate(10000, 90);
        assert_int_equal(judge(&goal, 4 * round), SWARM_GOES_ON);
    }
    evaluate(10000, 90);
    assert_int_equal(judge(&goal, 12), SWARM_TARGET_HELD);
}

static void the_last_rumors_may_cost_a_little(void **state)
{
    (void)state;
    struct swarm_goal goal = goal_of(0.8, 0, 0);
    for (uint64_t round = 1; round <= 5; round++) {
        evaluate(10000 * round, 80);
        assert_int_equal(judge(&goal, 4), SWARM_GOES_ON);
    }
    goal = goal_of(1, 0, 0);
    for (uint64_t round = 1; round <= 2; round++) {
        evaluate(10000 * round, 100);
        assert_int_equal(judge(&goal, 4), SWARM_GOES_ON);
    }
    evaluate(30000, 100);
    /* only a score of 1 holds a target of 1 */
    assert_int_equal(judge(&goal, 4), SWARM_TARGET_HELD);
}

static void a_node_that_ended_is_not_waited_for(void **state)
{
    (void)state;
    struct swarm_goal goal = goal_of(0.8, 0, 0);
    nodes[1].pid = 0;
    for (uint64_t round = 1; round <= 3; round++) {
        nodes[0].samples = 10000 * round;
        nodes[0].correct = 90;
        nodes[0].evaluations++;
        assert_int_equal(judge(&goal, 4), round < 3 ? SWARM_GOES_ON : SWARM_TARGET_HELD);
    }
}

static void a_limit_in_seconds_is_one(void **state)
{
    (void)state;
    struct swarm_goal goal = goal_of(0.8, 20, 0);
    evaluate(10000000, 10);
    assert_int_equal(judge(&goal, 19.9), SWARM_GOES_ON);
    assert_int_equal(judge(&goal, 20), SWARM_TIME_OVER);
    assert_true(swarm_goal_used(&goal, 0, 5) == 0.25);
}

static void a_limit_in_samples_is_one(void **state)
{
    (void)state;
    struct swarm_goal goal = goal_of(0.8, 0, 5000);
    evaluate(4998, 10);
    assert_int_equal(judge(&goal, 100000), SWARM_GOES_ON);
    evaluate(5000, 10);
    assert_int_equal(judge(&goal, 100001), SWARM_SAMPLES_OVER);
    assert_true(swarm_goal_used(&goal, 1000, 5000) == 0.2);
}

static void without_a_limit_a_slow_machine_gets_the_time_it_needs(void **state)
{
    (void)state;
    struct swarm_goal goal = goal_of(0.8, 0, 0);
    evaluate(GOAL_SAMPLES - 2, 10);
    assert_int_equal(judge(&goal, 10 * GOAL_SECONDS), SWARM_GOES_ON);
    assert_true(swarm_goal_used(&goal, GOAL_SAMPLES / 2, 10 * GOAL_SECONDS) == 0.5);
    evaluate(GOAL_SAMPLES, 10);
    assert_int_equal(judge(&goal, 10 * GOAL_SECONDS), SWARM_LIMIT_OVER);
}

static void without_a_limit_a_fast_machine_gets_five_minutes(void **state)
{
    (void)state;
    struct swarm_goal goal = goal_of(0.8, 0, 0);
    evaluate(10 * GOAL_SAMPLES, 10);
    assert_int_equal(judge(&goal, GOAL_SECONDS - 1), SWARM_GOES_ON);
    assert_int_equal(judge(&goal, GOAL_SECONDS), SWARM_LIMIT_OVER);
}

static void stops_waiting_for_nodes_that_learn_nothing(void **state)
{
    (void)state;
    struct swarm_goal goal = goal_of(0.8, 0, 0);
    evaluate(1000, 10);
    assert_int_equal(judge(&goal, 50), SWARM_GOES_ON);
    assert_int_equal(judge(&goal, 49 + GOAL_IDLE_S), SWARM_GOES_ON);
    assert_int_equal(judge(&goal, 50 + GOAL_IDLE_S), SWARM_IDLE);
}

/* A text's score is the predicted part of its eight bits per byte: 0.75 for 2 bits per byte. */
static void a_text_is_judged_by_its_bits_per_byte(void **state)
{
    (void)state;
    struct swarm_goal goal = {
        .target = swarm_score_of_bits(2), .kind = SCORE_OF_TEXT, .seconds = 600};
    /* the base must reach 1.9 bits, a little better than the target of 2 */
    const double low = 1.85 * log(2), high = 1.95 * log(2);
    for (int i = 0; i < 2; i++)
        nodes[i] = (struct swarm_node){.pid = 1, .tested = 100, .correct = 100};
    for (int round = 1; round <= 6; round++) {
        for (int i = 0; i < 2; i++) {
            nodes[i].evaluations++;
            nodes[i].samples += GOAL_APART;
            nodes[i].tested_loss = round < 4 ? high : low;
        }
        assert_int_equal(judge(&goal, 4 * round), round < 6 ? SWARM_GOES_ON : SWARM_TARGET_HELD);
    }
}

static void scores_read_as_people_write_them(void **state)
{
    (void)state;
    char text[SCORE_TEXT];
    assert_string_equal(swarm_score_text(text, false, 0.8565), "85.65 %");
    assert_string_equal(swarm_score_text(text, true, 0.75), "2.000 bits/byte");
    assert_true(fabs(swarm_score(true, 0.5, 4 * log(2)) - 0.5) < 1e-12);
    assert_true(swarm_score(true, 0.5, 100) == 0); /* worse than eight bits per byte */
    assert_true(swarm_score(false, 0.5, 100) == 0.5);
    assert_true(fabs(swarm_score_bits(swarm_score_of_bits(2.75)) - 2.75) < 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_is_judged_by_its_bits_per_byte),
        cmocka_unit_test(scores_read_as_people_write_them),
        cmocka_unit_test(the_target_is_held_for_three_rounds),
        cmocka_unit_test(a_round_waits_for_the_last_node),
        cmocka_unit_test(rounds_lie_samples_apart),
        cmocka_unit_test(a_swarm_that_has_learned_all_is_judged_as_it_is),
        cmocka_unit_test(the_last_rumors_may_cost_a_little),
        cmocka_unit_test(a_node_that_ended_is_not_waited_for),
        cmocka_unit_test(a_limit_in_seconds_is_one),
        cmocka_unit_test(a_limit_in_samples_is_one),
        cmocka_unit_test(without_a_limit_a_slow_machine_gets_the_time_it_needs),
        cmocka_unit_test(without_a_limit_a_fast_machine_gets_five_minutes),
        cmocka_unit_test(stops_waiting_for_nodes_that_learn_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
