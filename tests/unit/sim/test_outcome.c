/* Expectations about a whole run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/sim/outcome_story.h"

static void unmeasured_values_are_nan(void **state)
{
    (void)state;
    outcome_begin();
    const struct moment *moment = outcome_add(&judged, 0);
    const struct node_moment *nodes = outcome_nodes(&judged);
    assert_true(isnan(moment->accuracy) && isnan(moment->loss));
    assert_int_equal(moment->sent_bytes, 0);
    assert_true(isnan(nodes[0].up_use) && isnan(nodes[2].lag_s));
    assert_true(isnan(judged.accuracy) && isnan(judged.copies) && isnan(judged.one_version_s));
    assert_true(isnan(judged.nodes[1].accuracy));
    assert_string_equal(judged.nodes[1].name, "desk/2");
}

static void a_thousand_moments_are_all_kept_with_their_nodes(void **state)
{
    (void)state;
    outcome_begin();
    for (uint32_t i = 0; i < 1000; i++) {
        outcome_add(&judged, i)->samples = 3 * i;
        outcome_nodes(&judged)[2].behind = (float)i;
    }
    assert_int_equal(judged.moments_count, 1000);
    for (uint32_t i = 0; i < 1000; i++) {
        assert_true(judged.moments[i].at_s == i);
        assert_int_equal(judged.moments[i].samples, 3 * i);
        assert_true(judged.node_moments[3 * i + 2].behind == (float)i);
        assert_true(isnan(judged.node_moments[3 * i + 1].behind));
    }
}

static void the_moments_of_more_than_sixty_four_nodes_are_not_kept(void **state)
{
    (void)state;
    story_begin(10);
    story_group("desk", 64, 0);
    outcome_init(&judged, &story_scenario);
    (void)outcome_add(&judged, 0);
    assert_non_null(outcome_nodes(&judged));
    outcome_free(&judged);
    story_group("box", 1, 0);
    outcome_init(&judged, &story_scenario);
    (void)outcome_add(&judged, 0);
    assert_null(outcome_nodes(&judged));
}

static void accuracy_by_a_time_counts_the_first_moment_that_has_it(void **state)
{
    (void)state;
    outcome_begin();
    story_expect(METRIC_ACCURACY, true, 0.8, 6, "accuracy >= 0.8 by 6 s");
    (void)outcome_moment(2, 0.5);
    (void)outcome_moment(4, NAN);
    outcome_moment(5, 0.8)->sent_bytes = 12300;
    (void)outcome_moment(6, 0.9);
    assert_verdict(true, "accuracy >= 0.8 by 6 s: 0.8000 at 5 s, after 12.3 kB");
    assert_true(judged.verdicts[0].value == 0.8);
}

static void accuracy_reached_too_late_reports_the_best_before(void **state)
{
    (void)state;
    outcome_begin();
    story_expect(METRIC_ACCURACY, true, 0.8, 6, "accuracy >= 0.8 by 6 s");
    (void)outcome_moment(2, 0.7);
    (void)outcome_moment(5, 0.6);
    (void)outcome_moment(6.5, 0.9);
    judged.accuracy = 0.95;
    assert_verdict(false, "accuracy >= 0.8 by 6 s: 0.7000 at 2 s");
    story_scenario.expects[0].by_ns = 6500000000;
    assert_verdict(true, "accuracy >= 0.8 by 6 s: 0.9000 at 6.5 s");
}

static void accuracy_without_a_time_is_that_of_the_end(void **state)
{
    (void)state;
    outcome_begin();
    story_expect(METRIC_ACCURACY, true, 0.8, 0, "accuracy >= 0.8");
    (void)outcome_moment(2, 0.9);
    assert_verdict(false, "accuracy >= 0.8: not measured");
    judged.accuracy = 0.79;
    assert_verdict(false, "accuracy >= 0.8: 0.7900");
    judged.accuracy = 0.8;
    assert_verdict(true, "accuracy >= 0.8: 0.8000");
}

/* There are twenty evaluations before the end, so a tenth is two evaluations. */
static void the_last_tenth_is_compared_with_the_best_consecutive_tenth(void **state)
{
    (void)state;
    outcome_begin();
    story_expect(METRIC_LAST_TENTH, true, -0.003, 0, "last tenth >= best tenth - 0.3 points");
    for (int i = 0; i < 18; i++)
        (void)outcome_moment(0.4 * (i + 1), i == 9 || i == 10 ? 0.9 : 0.8);
    (void)outcome_moment(8, 0.902);
    (void)outcome_moment(9, 0.893);
    (void)outcome_moment(10, 0.1); /* the evaluation at the end, which uses other samples */
    assert_verdict(true, "last tenth >= best tenth - 0.3 points: 89.75 %, and 90.00 % at best");
    judged.moments[19].accuracy = 0.891;
    assert_verdict(false, "last tenth >= best tenth - 0.3 points: 89.65 %, and 90.00 % at best");
}

static void fewer_than_ten_evaluations_have_no_last_tenth(void **state)
{
    (void)state;
    outcome_begin();
    story_expect(METRIC_LAST_TENTH, true, -1, 0, "last tenth >= best tenth - 100 points");
    for (int i = 0; i < 9; i++)
        (void)outcome_moment(i + 1, 0.8);
    assert_verdict(false, "last tenth >= best tenth - 100 points: fewer than ten evaluations");
}

static void alarms_are_expected_or_not(void **state)
{
    (void)state;
    outcome_begin();
    story_expect(METRIC_NO_ALARM, false, 0, 0, "no alarm");
    assert_verdict(true, "no alarm: none");
    outcome_alarm(&judged, 4, "desk/1", "the model is dead");
    outcome_alarm(&judged, 5, "desk/2", "too");
    assert_verdict(false, "no alarm: 2; first desk/1 at 4.0 s: the model is dead");
    outcome_free(&judged);
    outcome_begin();
    story_expect(METRIC_ALARM, false, 0, 6, "alarm by 6 s");
    assert_verdict(false, "alarm by 6 s: none");
    outcome_alarm(&judged, 4, "desk/1", "the model is dead");
    assert_verdict(true, "alarm by 6 s: 1; first desk/1 at 4.0 s: the model is dead");
    story_scenario.expects[0].from_ns = 4000000000;
    assert_verdict(false, "alarm by 6 s: 1; first desk/1 at 4.0 s: the model is dead");
}

static void one_version_counts_from_the_end_of_training(void **state)
{
    (void)state;
    outcome_begin();
    story_expect(METRIC_ONE_VERSION, false, 0, 5, "one version by 5 s after training");
    assert_verdict(false, "one version by 5 s after training: never");
    story_scenario.strategy = STRATEGY_IDEAL;
    assert_verdict(false, "one version by 5 s after training: not measured");
    story_scenario.strategy = STRATEGY_GOSSIP;
    judged.one_version_s = 5;
    assert_verdict(true, "one version by 5 s after training: 5.00 s after training");
    judged.one_version_s = 5.01;
    assert_verdict(false, "one version by 5 s after training: 5.01 s after training");
}

static void copies_and_control_are_compared_with_their_bounds(void **state)
{
    (void)state;
    outcome_begin();
    story_expect(METRIC_COPIES, false, 1.1, 0, "copies <= 1.1");
    assert_verdict(false, "copies <= 1.1: not measured");
    judged.copies = 1.2;
    assert_verdict(false, "copies <= 1.1: 1.200");
    judged.copies = 1.1;
    assert_verdict(true, "copies <= 1.1: 1.100");
    story_scenario.expects_count = 0;
    story_expect(METRIC_CONTROL, false, 2000, 0, "control <= 2 kB/s");
    judged.control_bytes_per_s = 2001;
    assert_verdict(false, "control <= 2 kB/s: 2.0 kB/s");
    judged.control_bytes_per_s = 320;
    assert_verdict(true, "control <= 2 kB/s: 320 B/s");
}

/* The link is full in the first half, half full in the second, and full again after training. */
static void link_use_is_that_of_the_busiest_in_the_second_half_of_training(void **state)
{
    (void)state;
    outcome_begin();
    story_expect(METRIC_LINK_USE, false, 0.7, 0, "link use <= 70 %");
    assert_verdict(false, "link use <= 70 %: not measured");
    for (uint32_t s = 1; s <= 12; s++) {
        (void)outcome_moment(s, NAN);
        outcome_nodes(&judged)[0].up_use = s <= 5 || s > 10 ? 1 : 0.5f;
        outcome_nodes(&judged)[1].down_use = 0.25f;
    }
    assert_verdict(true, "link use <= 70 %: 50.0 % (desk/1 up)");
    judged.links = calloc(1, sizeof *judged.links);
    assert_non_null(judged.links);
    judged.links[0] = (struct link_total){.from = "desk", .to = "box", .use = 0.71};
    judged.links_count = 1;
    assert_verdict(false, "link use <= 70 %: 71.0 % (desk > box)");
}

static void links_are_sorted_by_use_and_those_without_a_limit_left_out(void **state)
{
    (void)state;
    outcome_begin();
    (void)outcome_moment(8, NAN);
    struct node_moment *nodes = outcome_nodes(&judged);
    nodes[0].up_use = 0.25f;
    nodes[1].up_use = 0.5f;
    uint32_t count;
    struct link_use *uses = outcome_uses(&judged, &count);
    assert_int_equal(count, 2);
    assert_string_equal(uses[0].name, "desk/2 up");
    assert_true(uses[0].use == 0.5 && uses[0].rate_bytes_per_s == 125000);
    assert_string_equal(uses[1].name, "desk/1 up");
    free(uses);
}

static void members_counts_the_node_that_knows_fewest(void **state)
{
    (void)state;
    outcome_begin();
    story_expect(METRIC_MEMBERS, true, 3, 4, "members >= 3 by 4 s");
    outcome_moment(2, NAN)->members = 2;
    outcome_moment(5, NAN)->members = 3;
    assert_verdict(false, "members >= 3 by 4 s: 2 at 2 s");
    story_scenario.expects[0].by_ns = 5000000000;
    assert_verdict(true, "members >= 3 by 4 s: 3 at 5 s");
    story_scenario.expects[0].by_ns = 0;
    assert_verdict(true, "members >= 3 by 4 s: 3");
}

static void steps_counts_the_node_with_the_smallest_fraction(void **state)
{
    (void)state;
    outcome_begin();
    story_expect(METRIC_STEPS, true, 0.99, 0, "steps >= 99 %");
    assert_verdict(false, "steps >= 99 %: not measured");
    judged.nodes[0].steps = judged.nodes[0].steps_possible = 1000000;
    judged.nodes[1].steps = 98;
    judged.nodes[1].steps_possible = 100;
    assert_verdict(false, "steps >= 99 %: 98.00 % (desk/2)");
    judged.nodes[1].steps = 99;
    assert_verdict(true, "steps >= 99 %: 99.00 % (desk/2)");
}

static void one_miss_or_a_broken_invariant_is_enough(void **state)
{
    (void)state;
    outcome_begin();
    outcome_judge(&judged);
    assert_true(outcome_is_met(&judged));
    story_expect(METRIC_COPIES, false, 1.1, 0, "copies <= 1.1");
    story_expect(METRIC_CONTROL, false, 100, 0, "control <= 100 B/s");
    judged.copies = 1;
    judged.control_bytes_per_s = 50;
    outcome_judge(&judged);
    assert_true(outcome_is_met(&judged));
    judged.control_bytes_per_s = 150;
    outcome_judge(&judged);
    assert_true(judged.verdicts[0].met && !judged.verdicts[1].met);
    assert_false(outcome_is_met(&judged));
    judged.control_bytes_per_s = 50;
    outcome_judge(&judged);
    (void)snprintf(judged.violation, sizeof judged.violation, "a base is not its rumors");
    assert_false(outcome_is_met(&judged));
}

static void blocks_counts_the_node_that_received_most(void **state)
{
    (void)state;
    outcome_begin();
    story_expect(METRIC_BLOCKS, false, 1.1, 0, "blocks <= 1.1 x base");
    judged.base_bytes = 4000;
    assert_verdict(false, "blocks <= 1.1 x base: no node took over a base");
    judged.nodes[0].block_bytes = 4000;
    judged.nodes[1].block_bytes = 4400;
    assert_verdict(true, "blocks <= 1.1 x base: 1.100 x base (4.4 kB, desk/2)");
    judged.nodes[1].block_bytes = 4404;
    assert_verdict(false, "blocks <= 1.1 x base: 1.101 x base (4.4 kB, desk/2)");
}

static void joining_counts_the_slowest_late_node(void **state)
{
    (void)state;
    outcome_begin();
    story_expect(METRIC_JOINING, false, 1.15, 0, "joining <= 1.15 x blocks / rate");
    judged.nodes[0].block_bytes = judged.nodes[2].block_bytes = 250000;
    judged.nodes[0].joining_s = judged.nodes[2].joining_s = 9;
    story_scenario.groups[0].down.bytes_per_s = 125000;
    assert_verdict(
        false,
        "joining <= 1.15 x blocks / rate: not measured"); /* all nodes started with the swarm */
    story_scenario.groups[0].down.bytes_per_s = 0;
    story_scenario.groups[0].start_ns = story_scenario.groups[1].start_ns = 1;
    /* The link is unlimited. */
    assert_verdict(false, "joining <= 1.15 x blocks / rate: not measured");
    story_scenario.groups[0].down.bytes_per_s = 125000;
    judged.nodes[0].joining_s = 2.25;
    assert_verdict(true, "joining <= 1.15 x blocks / rate: 1.125 x blocks / rate (2.25 s, desk/1)");
    judged.nodes[1].block_bytes = 125000;
    assert_verdict(false, "joining <= 1.15 x blocks / rate: never (desk/2)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(unmeasured_values_are_nan),
        TEST(a_thousand_moments_are_all_kept_with_their_nodes),
        TEST(the_moments_of_more_than_sixty_four_nodes_are_not_kept),
        TEST(accuracy_by_a_time_counts_the_first_moment_that_has_it),
        TEST(accuracy_reached_too_late_reports_the_best_before),
        TEST(accuracy_without_a_time_is_that_of_the_end),
        TEST(the_last_tenth_is_compared_with_the_best_consecutive_tenth),
        TEST(fewer_than_ten_evaluations_have_no_last_tenth),
        TEST(alarms_are_expected_or_not),
        TEST(one_version_counts_from_the_end_of_training),
        TEST(copies_and_control_are_compared_with_their_bounds),
        TEST(link_use_is_that_of_the_busiest_in_the_second_half_of_training),
        TEST(links_are_sorted_by_use_and_those_without_a_limit_left_out),
        TEST(members_counts_the_node_that_knows_fewest),
        TEST(steps_counts_the_node_with_the_smallest_fraction),
        TEST(one_miss_or_a_broken_invariant_is_enough),
        TEST(blocks_counts_the_node_that_received_most),
        TEST(joining_counts_the_slowest_late_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
