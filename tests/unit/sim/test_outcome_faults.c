/* Expectations during and after faults: removals, components, joining, and the work of groups and
 * sides. First on outcomes made by hand, then on played scenarios. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/sim/scenario_text.h"

#include "support/sim/scenario_play.h"

#include "support/sim/outcome_story.h"

static void expect_between(enum metric metric, double value, double from_s, double by_s,
                           const char *text)
{
    story_scenario.expects_count = 0;
    story_expect(metric, true, value, by_s, text);
    story_scenario.expects[0].from_ns = (uint64_t)(from_s * 1e9);
}

static void one_component_reports_since_when_it_holds(void **state)
{
    (void)state;
    outcome_begin();
    expect_between(METRIC_COMPONENT, 0, 2, 6, "one component within 4 s of 2 s");
    assert_verdict(false, "one component within 4 s of 2 s: not measured");
    static const uint32_t COMPONENTS[] = {1, 1, 1, 1, 2, 1, 1, 3};
    for (uint32_t s = 0; s < 8; s++)
        outcome_moment(s, NAN)->components = COMPONENTS[s];
    assert_verdict(true, "one component within 4 s of 2 s: from 5 s on");
    assert_true(judged.verdicts[0].value == 3);
    story_scenario.expects[0].by_ns = 4000000000;
    assert_verdict(false, "one component within 4 s of 2 s: 2 at 4 s");
}

static void joined_requires_all_running_nodes(void **state)
{
    (void)state;
    outcome_begin();
    expect_between(METRIC_JOINED, 0, 0, 3, "joined by 3 s");
    assert_verdict(false, "joined by 3 s: not measured");
    for (uint32_t s = 1; s <= 4; s++) {
        struct moment *moment = outcome_moment(s, NAN);
        moment->running = s < 4 ? 2 : 3;
        moment->joined = s < 2 ? 1 : 2;
    }
    assert_verdict(true, "joined by 3 s: all 2 from 2 s on");
    story_scenario.expects[0].by_ns = 4000000000;
    assert_verdict(false, "joined by 3 s: 2 of 3 at 4 s");
}

static void one_healthy_node_removed_is_too_many(void **state)
{
    (void)state;
    outcome_begin();
    story_expect(METRIC_REMOVED, false, 0, 0, "no healthy node removed");
    assert_verdict(true, "no healthy node removed: none");
    judged.removed = 2;
    (void)snprintf(judged.removed_text, sizeof judged.removed_text, "box/1 by desk/1 at 3.0 s");
    assert_verdict(false, "no healthy node removed: 2 times; first box/1 by desk/1 at 3.0 s");
}

/* desk/2 makes half of its possible steps from 3 s to 5 s. */
static void steps_of_counts_the_slowest_node_in_the_time_span(void **state)
{
    (void)state;
    outcome_begin();
    story_scenario.groups[0].samples_per_s = 400;
    expect_between(METRIC_STEPS_OF, 0.95, 2, 6, "steps of desk >= 95 %");
    assert_verdict(false, "steps of desk >= 95 %: not measured");
    for (uint32_t s = 1; s <= 8; s++) {
        (void)outcome_moment(s, NAN);
        outcome_nodes(&judged)[0].samples_per_s = s <= 2 ? 0 : 400;
        outcome_nodes(&judged)[1].samples_per_s = s == 4 || s == 5 ? 200 : 400;
        outcome_nodes(&judged)[2].samples_per_s = 0;
    }
    assert_verdict(false, "steps of desk >= 95 %: 75.00 % (desk/2)");
    story_scenario.expects[0].by_ns = 3000000000;
    assert_verdict(true, "steps of desk >= 95 %: 100.00 % (desk/1)");
}

static void published_by_is_compared_with_an_equal_time_span_before(void **state)
{
    (void)state;
    outcome_begin();
    expect_between(METRIC_PUBLISHED_BY, 0.9, 4, 6, "published by desk >= 90 %");
    assert_verdict(false, "published by desk >= 90 %: not measured");
    for (uint32_t s = 1; s <= 8; s++) {
        (void)outcome_moment(s, NAN);
        outcome_nodes(&judged)[0].rumor_bytes_published = s <= 2 ? 9000 : s <= 4 ? 100 : 80;
        outcome_nodes(&judged)[1].rumor_bytes_published = s <= 6 ? 100 : 9000;
        outcome_nodes(&judged)[2].rumor_bytes_published = (float)(1000 * s);
    }
    assert_verdict(true, "published by desk >= 90 %: 90.0 % (360 B, 400 B before)");
    outcome_nodes(&judged)[-6].rumor_bytes_published = 79; /* desk/1 at 6 s */
    assert_verdict(false, "published by desk >= 90 %: 89.8 % (359 B, 400 B before)");
}

static void mark(double at_s, double first, double second, double box)
{
    (void)outcome_moment(at_s, NAN);
    outcome_nodes(&judged)[0].accuracy = (float)first;
    outcome_nodes(&judged)[1].accuracy = (float)second;
    outcome_nodes(&judged)[2].accuracy = (float)box;
}

static void accuracy_of_all_counts_the_worst_node(void **state)
{
    (void)state;
    outcome_begin();
    expect_between(METRIC_ACCURACY_OF_ALL, 0.5, 1, 5, "accuracy of all >= 0.5");
    assert_verdict(false, "accuracy of all >= 0.5: not measured");
    mark(1, 0.25, 0.25, 0.25);
    mark(2, 0.75, NAN, 0.625);
    (void)outcome_moment(3, NAN);
    mark(4, 0.75, 0.5, 0.625);
    assert_verdict(true, "accuracy of all >= 0.5: 0.5000 at 4 s (desk/2), bound 0.5000");
    mark(5, 0.375, 0.75, 0.5);
    mark(6, 0, 0, 0);
    assert_verdict(false, "accuracy of all >= 0.5: 0.3750 at 5 s (desk/1), bound 0.5000");
    story_scenario.expects[0].once = true;
    assert_verdict(true, "accuracy of all >= 0.5: 0.6250 at 2 s (box/1), bound 0.5000");
    story_scenario.expects[0].value = 0.7;
    assert_verdict(false, "accuracy of all >= 0.5: 0.6250 at 2 s (box/1), bound 0.7000");
}

/* The desks have accuracies of 0.75 and 0.5 when the partition ends at 4 s, the box 0.375. */
static void bounds_of_halves_are_measured_when_the_partition_ends(void **state)
{
    (void)state;
    outcome_begin();
    story_fault(FAULT_PARTITION, 2, 4, 0);
    node_set_add(&story_scenario.faults[0].a, 1);
    node_set_add(&story_scenario.faults[0].b, 2);
    expect_between(METRIC_ACCURACY_OF_ALL, -0.25, 4, 6, "accuracy of all >= better half");
    story_scenario.expects[0].bound = BOUND_BETTER_HALF;
    mark(2, 1, 1, 1);
    mark(4, 0.75, 0.5, 0.375);
    mark(5, 0.5, 0.5, 0.5);
    mark(6, 0.75, 0.75, 0.75);
    assert_verdict(true, "accuracy of all >= better half: 0.5000 at 5 s (desk/1), compared with "
                         "0.5000");
    story_scenario.expects[0].value = 0;
    assert_verdict(false, "accuracy of all >= better half: 0.5000 at 5 s (desk/1), compared with "
                          "0.7500");
    story_scenario.expects[0].bound = BOUND_WORSE_HALF;
    assert_verdict(true, "accuracy of all >= better half: 0.5000 at 5 s (desk/1), compared with "
                         "0.3750");
}

static void nodes_are_measured_in_the_time_span_and_just_before(void **state)
{
    (void)state;
    outcome_begin();
    story_scenario.evaluate_ns = 2000000000;
    expect_between(METRIC_ACCURACY_OF_ALL, 0.5, 5, 8, "accuracy of all >= 0.5");
    assert_false(outcome_wants_nodes(&story_scenario, 3000000000));
    assert_true(outcome_wants_nodes(&story_scenario, 4000000000));
    assert_true(outcome_wants_nodes(&story_scenario, 8000000000));
    assert_false(outcome_wants_nodes(&story_scenario, 9000000000));
    story_scenario.expects[0].metric = METRIC_ACCURACY;
    assert_false(outcome_wants_nodes(&story_scenario, 6000000000));
}

/* The line between west and east is blocked, and no fault explains that. */
static void a_removal_without_a_fault_was_of_a_healthy_node(void **state)
{
    (void)state;
    play_out(&judged, "link = west east, rtt 20 ms, rate 1 MB/s, at 10 s rate 1 B/s\n"
                      "expect = no healthy node removed\n"
                      "expect = one component within 10 s of 20 s\n"
                      "expect = joined by 10 s\n");
    assert_true(judged.removed > 0 && !judged.verdicts[0].met);
    assert_string_equal(judged.verdicts[1].text, "one component within 10 s of 20 s: 2 at 30 s");
    assert_true(judged.verdicts[2].met);
}

/* East has closed its connections to the paused west, which has not noticed. */
static void components_need_connections_open_at_both_ends(void **state)
{
    (void)state;
    play_out(&judged, "fault = pause west, at 10 s, for 15 s\n"
                      "expect = one component within 10 s of 14 s\n"
                      "expect = one component within 10 s of 26 s\n"
                      "expect = no healthy node removed\n");
    assert_string_equal(judged.verdicts[0].text, "one component within 10 s of 14 s: 2 at 24 s");
    assert_true(judged.verdicts[1].met && judged.verdicts[2].met);
}

/* Nothing reaches the relay, so it eventually continues alone. */
static void a_relay_joins_with_its_first_neighbour(void **state)
{
    (void)state;
    play_out(&judged, "nodes = 1 relay\nlink = relay west, rate 1 B/s\n"
                      "link = relay east, rate 1 B/s\nexpect = joined by 8 s\n");
    assert_string_equal(judged.verdicts[0].text, "joined by 8 s: 8 of 9 at 8 s");
}

static void faults_explain_removals(void **state)
{
    (void)state;
    play_out(&judged, "fault = partition west | east, from 8 s to 14 s\n"
                      "fault = crash west/2, at 20 s, silently\n"
                      "fault = clog west/3, from 20 s to 28 s\n"
                      "nodes = 1 guest, until 22 s\n"
                      "expect = no healthy node removed\n"
                      "expect = one component within 10 s of 30 s\n");
    assert_string_equal(judged.verdicts[0].text, "no healthy node removed: none");
    assert_true(judged.verdicts[1].met);
}

/* In every period of 2 s, west pauses for 0.5 s to 1 s. */
static void recurring_pauses_reduce_steps(void **state)
{
    (void)state;
    play_out(&judged, "fault = pause west, every 2 s, for 0.5 s to 1 s, from 10 s to 30 s\n"
                      "expect = steps of west >= 80 % from 10 s to 30 s\n"
                      "expect = steps of east >= 99 % from 10 s to 30 s\n"
                      "expect = steps of west >= 99 % from 30 s to 40 s\n"
                      "expect = no healthy node removed\n");
    assert_true(judged.verdicts[0].value > 0.45 && judged.verdicts[0].value < 0.8);
    assert_true(judged.verdicts[1].met && judged.verdicts[2].met && judged.verdicts[3].met);
}

/* With a checkpoint every 4 s, only a node that restarts without its disk takes over a base. */
static void a_kept_disk_avoids_a_state_transfer(void **state)
{
    (void)state;
    static const char *const DISKS[] = {"kept", "rots", "lost"};
    uint64_t received[3], taken[3];
    for (int i = 0; i < 3; i++) {
        char lines[256];
        (void)snprintf(lines, sizeof lines,
                       "fault = crash east/1, at 30 s, back at 32 s, disk %s\n"
                       "expect = joined by 40 s\n[node]\nsave_s = 4\n",
                       DISKS[i]);
        play_out(&judged, lines);
        assert_true(judged.verdicts[0].met);
        received[i] = judged.nodes[4].rumors_received;
        taken[i] = judged.nodes[4].block_bytes;
        outcome_free(&judged);
    }
    assert_true(received[0] < received[1] && taken[0] == 0 && taken[1] == 0);
    assert_true(received[2] < received[0] && taken[2] > 0);
}

static void a_duplicate_identity_affects_no_other_node(void **state)
{
    (void)state;
    play_out(&judged, "fault = duplicate west/2, at 10 s, until 20 s\n"
                      "expect = no healthy node removed\n"
                      "expect = steps of east >= 99 % from 10 s to 20 s\n"
                      "expect = one component within 10 s of 20 s\n");
    assert_true(outcome_is_met(&judged));
    /* after a refusal, the original node has started another incarnation */
    assert_true(judged.origins > 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(one_component_reports_since_when_it_holds),
        TEST(joined_requires_all_running_nodes),
        TEST(one_healthy_node_removed_is_too_many),
        TEST(steps_of_counts_the_slowest_node_in_the_time_span),
        TEST(published_by_is_compared_with_an_equal_time_span_before),
        TEST(accuracy_of_all_counts_the_worst_node),
        TEST(bounds_of_halves_are_measured_when_the_partition_ends),
        TEST(nodes_are_measured_in_the_time_span_and_just_before),
        TEST(a_removal_without_a_fault_was_of_a_healthy_node),
        TEST(components_need_connections_open_at_both_ends),
        TEST(a_relay_joins_with_its_first_neighbour),
        TEST(faults_explain_removals),
        TEST(recurring_pauses_reduce_steps),
        TEST(a_kept_disk_avoids_a_state_transfer),
        TEST(a_duplicate_identity_affects_no_other_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
