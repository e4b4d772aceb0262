/* When the nodes of a swarm publish. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "node/settle.h"
#include "support/sim/swarm_world.h"

static uint64_t told_by(uint32_t i)
{
    return stats_of(i).rumors_published;
}

static uint64_t told_by_all(void)
{
    uint64_t told = 0;
    for (uint32_t i = 0; i < world.nodes_count; i++)
        told += told_by(i);
    return told;
}

/* Returns options without a fixed interval. A step takes 20 ms. */
static struct node_options free_options(void)
{
    struct node_options options = usual_options();
    options.interval_ns = 0;
    options.gain = 0;
    options.beta = -1;
    options.steps_min = 1;
    options.bytes_per_s = 100000;
    return options;
}

static void a_fixed_interval_is_kept_on_average(void **state)
{
    (void)state;
    start_usual_swarm(2);
    run(10 * SECOND_NS);
    const uint64_t before = told_by_all();
    run(30 * SECOND_NS);
    const uint64_t told = told_by_all() - before; /* expected: 2 nodes · 30 s / 0.5 s */
    assert_in_range(told, 105, 125);
}

/* Returns the rumor bytes that node 0, one of `nodes` nodes, publishes in ten seconds. */
static uint64_t published_by_one_of(uint32_t nodes)
{
    struct node_options options = usual_options();
    options.bytes_per_s = 50;
    options.interval_ns = 2 * SECOND_NS;
    parameters = PARAMETERS_MAX;
    world_free(&world);
    begin_world(1);
    density_max = PARAMETERS_MAX; /* more to publish than the budget allows */
    start_swarm(nodes, &options);
    run(5 * SECOND_NS);
    const uint64_t before = stats_of(0).rumor_bytes_published;
    run(10 * SECOND_NS);
    parameters = PARAMETERS;
    return stats_of(0).rumor_bytes_published - before;
}

static void an_isolated_node_publishes_everything(void **state)
{
    (void)state;
    const uint64_t together = published_by_one_of(2), alone = published_by_one_of(1);
    assert_true(together <= 11 * 300);
    assert_true(alone > 3 * together);
}

static void nodes_that_started_together_publish_at_different_times(void **state)
{
    (void)state;
    start_usual_swarm(8);
    run(10 * SECOND_NS);
    uint32_t crowded = 0;
    for (uint32_t i = 0; i < 100; i++) {
        const uint64_t before = told_by_all();
        run(SECOND_NS / 20); /* a tenth of the publishing interval */
        crowded += told_by_all() - before > 4;
    }
    assert_true(crowded < 5);
}

static void a_free_interval_follows_the_delay_of_news(void **state)
{
    (void)state;
    const struct node_options options = free_options();
    start_swarm(4, &options);
    run(10 * SECOND_NS);
    uint64_t before = told_by(0);
    run(20 * SECOND_NS);
    const uint64_t near_by = told_by(0) - before; /* expected: 20 s / 250 ms */
    assert_in_range(near_by, 60, 90);
    paths[HERE][HERE].delay_ns = SECOND_NS;
    run(60 * SECOND_NS);
    before = told_by(0);
    run(60 * SECOND_NS);
    const uint64_t far = told_by(0) - before; /* expected: 60 s / 1.16 s */
    assert_in_range(far, 40, 60);
}

static void a_free_interval_follows_the_duration_of_steps(void **state)
{
    (void)state;
    const struct node_options options = free_options();
    add_swarm(4, &options);
    world.nodes[3].step_ns = 400 * MS_NS;
    start_all();
    run(20 * SECOND_NS);
    const uint64_t fast = told_by(0), slow = told_by(3);
    run(60 * SECOND_NS); /* expected: 60 s / 250 ms and 60 s / 3.22 s */
    assert_in_range(told_by(0) - fast, 190, 270);
    assert_in_range(told_by(3) - slow, 13, 24);
}

static void a_node_that_becomes_faster_publishes_more_often(void **state)
{
    (void)state;
    const struct node_options options = free_options();
    add_swarm(8, &options);
    world.nodes[1].step_ns = 2 * SECOND_NS;
    start_all();
    run(100 * SECOND_NS);
    assert_true(stats_of(1).interval_s > 16);
    world.nodes[1].step_ns = 200 * MS_NS; /* node 1 still waits: check 8 of check.h must allow it */
    run(60 * SECOND_NS);
    assert_true(stats_of(1).interval_s < 3);
    const uint64_t before = told_by(1);
    run(20 * SECOND_NS);
    assert_true(told_by(1) - before > 5);
}

static void one_distant_node_makes_no_other_wait(void **state)
{
    (void)state;
    const struct node_options options = free_options();
    add_swarm(5, &options);
    world.wire.parties[4].region = NEARBY; /* node 4 is 0.5 s from all other nodes */
    paths[HERE][NEARBY].delay_ns = paths[NEARBY][HERE].delay_ns = SECOND_NS / 2;
    start_all();
    run(60 * SECOND_NS);
    assert_int_equal(neighbours(0), 4);
    assert_true(stats_of(0).interval_s < 0.3);
    assert_true(stats_of(4).interval_s > 0.6);
}

static void one_dominant_learner_reduces_averaging(void **state)
{
    (void)state;
    const struct node_options options = free_options();
    add_swarm(9, &options);
    start_all();
    run(30 * SECOND_NS);
    assert_true(stats_of(1).gain > 1.2); /* expected: sqrt(sqrt(9) / 2) */
    world.nodes[0].step_samples = 3200;
    run(60 * SECOND_NS);
    assert_true(stats_of(1).gain == 1);
}

static void a_long_interval_is_dropped_when_the_node_becomes_faster(void **state)
{
    (void)state;
    const struct node_options options = free_options();
    add_swarm(8, &options);
    world.nodes[1].step_ns = 10 * SECOND_NS;
    start_all();
    run(400 * SECOND_NS);
    assert_true(stats_of(1).interval_s > 50);
    world.nodes[1].step_ns = 20 * MS_NS;
    run(10 * SECOND_NS); /* until node 1's running step of 10 s has ended */
    while (stats_of(1).interval_s > 1)
        run(SECOND_NS / 10);
    const uint64_t before = told_by(1);
    run(3 * SECOND_NS);
    assert_true(told_by(1) > before);
}

static void a_relay_does_not_raise_the_gain(void **state)
{
    (void)state;
    struct node_options options = free_options();
    add_swarm(16, &options);
    for (uint32_t i = 4; i < 16; i++)
        world.nodes[i].options.trains = false;
    start_all();
    run(20 * SECOND_NS);
    assert_true(stats_of(0).members_live == 16);
    assert_true(stats_of(0).gain == 1); /* expected: sqrt(4) / 2, because four nodes train */
}

static void a_learner_without_momentum_gets_more_outer_momentum(void **state)
{
    (void)state;
    struct node_options options = free_options();
    for (uint32_t i = 0; i < 4; i++) {
        options.momentum = i < 2 ? 0.9 : 0;
        (void)add(&options);
        if (i > 0)
            world_introduce(&world, i, 0);
    }
    start_all();
    run(10 * SECOND_NS);
    assert_true(stats_of(2).beta > 1.9 * stats_of(0).beta);
    assert_true(stats_of(0).beta > 0);
}

static void many_nodes_publish_often_at_first(void **state)
{
    (void)state;
    const struct node_options options = free_options();
    start_swarm(24, &options);
    for (uint32_t i = 0; i < 24; i++)
        world.nodes[i].step_ns = 100 * MS_NS;
    while (told_by(0) == 0)
        run(SECOND_NS / 10);
    const struct node_stats first = stats_of(0);
    run(60 * SECOND_NS);
    assert_true(stats_of(0).interval_s > 1.2 * first.interval_s);
}

/* Returns the interval, in seconds, of one of sixteen nodes with this byte budget. A publication of
 * all entries has about 300 bytes. */
static double interval_with(uint64_t bytes_per_s)
{
    struct node_options options = free_options();
    options.bytes_per_s = bytes_per_s;
    world_free(&world);
    begin_world(1);
    start_swarm(16, &options);
    run(30 * SECOND_NS);
    return stats_of(0).interval_s;
}

static void a_cut_publication_lengthens_the_interval(void **state)
{
    (void)state;
    const double full_s = interval_with(1000000), cut_s = interval_with(1000);
    assert_true(full_s < 0.3);
    assert_true(cut_s > full_s);
}

static void configured_values_stay_fixed(void **state)
{
    (void)state;
    struct node_options options = free_options();
    options.gain = 1.2;
    options.beta = 0;
    start_swarm(4, &options);
    run(10 * SECOND_NS);
    assert_true(stats_of(0).gain == 1.2);
    assert_true(stats_of(0).beta == 0);
    assert_true(stats_of(0).interval_s == 0.25);
}

/* Returns the number of node 0's publications in twenty seconds with this byte budget. The interval
 * is at least 80 ms and steps_min steps; 0 = automatic (4 to 16 steps). */
static uint64_t told_with(uint64_t bytes_per_s, uint32_t steps_min)
{
    struct node_options options = free_options();
    options.interval_ns = 80 * MS_NS;
    options.bytes_per_s = bytes_per_s;
    options.steps_min = steps_min;
    world_free(&world);
    begin_world(1);
    start_swarm(4, &options);
    run(20 * SECOND_NS);
    const uint64_t before = told_by(0);
    run(20 * SECOND_NS);
    return told_by(0) - before;
}

static void thin_lines_cause_fuller_but_not_more_publications(void **state)
{
    (void)state;
    const uint64_t rich = told_with(100000, 0), thin = told_with(300, 0);
    assert_in_range(rich, 180, 250);              /* expected: 20 s / 80 ms, plus a step */
    assert_in_range(told_with(1600, 0), 90, 106); /* expected: 20 s / the time for 320 bytes */
    assert_in_range(thin, 50, 63);                /* expected: 20 s / 16 steps */
    assert_in_range(told_with(300, 5), 150, 200); /* expected: 20 s / 5 steps, as configured */
}

static void a_leaving_node_publishes_at_once(void **state)
{
    (void)state;
    struct node_options options = usual_options();
    options.interval_ns = 100 * SECOND_NS;
    start_swarm(2, &options);
    run(200 * SECOND_NS);
    const uint64_t before = told_by(1);
    world_leave(&world, 1);
    run(SECOND_NS);
    assert_int_equal(told_by(1), before + 1);
}

static void the_residual_counts_in_the_weights_as_later_in_the_base(void **state)
{
    (void)state;
    struct node_options options = usual_options();
    options.withheld = -1;
    start_swarm(4, &options);
    run(10 * SECOND_NS);
    assert_true(fabs(stats_of(0).withheld - (1 - stats_of(0).share)) < 1e-9);
    assert_true(fabs(stats_of(0).withheld - 0.75) < 0.1);
    world_leave(&world, 1);
    run(SECOND_NS);
    assert_true(stats_of(1).withheld == 0);
}

/* Returns the terms of node 0's last publication after a further time. */
static const struct publish_terms *terms_after(uint64_t span_ns)
{
    run(span_ns);
    return &world.nodes[0].terms;
}

/* Returns the terms of node 0's next publication. */
static const struct publish_terms *next_terms(void)
{
    const uint64_t before = told_by(0);
    while (told_by(0) == before)
        run(MS_NS);
    return &world.nodes[0].terms;
}

static void statistics_are_held_back_then_moved_by_equal_shares_then_also_pulled(void **state)
{
    (void)state;
    start_usual_swarm(2);
    assert_true(terms_after(2500 * MS_NS)->statistics_share == 0);
    assert_true(terms_after(2 * SECOND_NS)->statistics_share == 0.5);
    assert_true(world.nodes[0].terms.statistics_pull == 0);
    assert_true(terms_after(10 * SECOND_NS)->statistics_share == 0.5);
    const double often = world.nodes[0].terms.statistics_pull;
    assert_true(often > 0 && often < 0.12); /* a publication of at least eight */
    world_finish(&world, 0);
    assert_true(next_terms()->statistics_share > 0);
    assert_true(world.nodes[0].terms.statistics_pull == 0);
}

static void an_ended_member_counts_in_one_more_publication_of_statistics(void **state)
{
    (void)state;
    start_usual_swarm(2);
    run(10 * SECOND_NS);
    world_finish(&world, 1);
    while (next_terms()->share < 1)
        assert_true(world.nodes[0].terms.statistics_share == 0.5);
    assert_true(world.nodes[0].terms.statistics_share == 0.5);
    assert_true(next_terms()->statistics_share == 1);
}

/* After its last publication, node 1's unpublished rest ages. It is not published when the node
 * leaves, even alone. */
static void a_node_whose_training_has_ended_publishes_nothing_when_it_leaves(void **state)
{
    (void)state;
    start_usual_swarm(2);
    run(10 * SECOND_NS);
    node_end_training(world.nodes[1].node);
    while (!node_publish_soon(world.nodes[1].node, world_now_ns(&world)))
        run(MS_NS);
    run(10 * SECOND_NS);
    world_leave(&world, 0);
    run(5 * SECOND_NS);
    const uint64_t before = told_by(1);
    world_leave(&world, 1);
    for (; world.nodes[1].node; run(MS_NS))
        assert_int_equal(told_by(1), before);
}

/* The killed member still counts as live. */
static void a_quiet_member_takes_no_part_in_the_statistics(void **state)
{
    (void)state;
    start_usual_swarm(2);
    run(10 * SECOND_NS);
    assert_true(world.nodes[0].terms.statistics_share == 0.5);
    world_kill(&world, 1, true);
    while (world.nodes[0].terms.statistics_share == 0.5)
        (void)next_terms();
    assert_true(world.nodes[0].terms.statistics_share == 1);
    assert_true(world.nodes[0].terms.share < 0.6);
}

static void a_node_whose_training_has_ended_takes_no_share(void **state)
{
    (void)state;
    start_usual_swarm(2);
    run(10 * SECOND_NS);
    node_end_training(world.nodes[1].node);
    run(5 * SECOND_NS);
    assert_true(next_terms()->share == 1);
    assert_true(world.nodes[0].terms.statistics_share == 1);
}

static bool alike;  /* true: all four nodes learn equal updates */
static double beta; /* outer momentum; < 0 = default */

/* Returns statistics of one of four nodes whose publications have at most entries_max entries. */
static struct node_stats stats_with(uint32_t entries_max, double held, uint64_t interval_ns)
{
    struct node_options options = free_options();
    options.withheld = held;
    options.interval_ns = interval_ns;
    options.beta = beta;
    world_free(&world);
    begin_world(1);
    density_max = entries_max;
    is_alike = alike;
    start_swarm(4, &options);
    run(200 * SECOND_NS);
    return stats_of(0);
}

static void rare_publications_have_a_higher_gain(void **state)
{
    (void)state;
    alike = true;
    beta = -1;
    const struct node_stats rich = stats_with(PARAMETERS, -1, 0), plain = stats_with(6, 0, 0);
    const struct node_stats thin = stats_with(6, -1, 0);
    assert_true(thin.gain > 1.5 * plain.gain);
    assert_true(thin.gain > 1.5 * rich.gain);
    assert_true(thin.gain * thin.share <= 1.01);
    assert_true(plain.beta > 0 && fabs(thin.gain * thin.beta - plain.gain * plain.beta) < 1e-6);
}

/* Each node learns different updates. Outer momentum is off (beta = 0), because it would make the
 * nodes' progress similar. Publications have 30 entries, so that chance does not decide the
 * result. */
static void unique_progress_has_no_higher_gain(void **state)
{
    (void)state;
    alike = false;
    beta = 0;
    const struct node_stats plain = stats_with(30, 0, 0), thin = stats_with(30, -1, 0);
    assert_true(thin.gain < 1.2 * plain.gain);
}

/* A node publishes every second step, eight times before it sees a reaction to its first
 * publication. */
static void publications_before_an_answer_have_no_higher_gain(void **state)
{
    (void)state;
    alike = true;
    beta = -1;
    const uint64_t interval_ns = 40 * MS_NS;
    const struct node_stats plain = stats_with(6, 0, interval_ns);
    const struct node_stats thin = stats_with(6, -1, interval_ns);
    assert_true(thin.withheld > 0.7);
    assert_true(fabs(thin.gain - plain.gain) < 0.01 * plain.gain);
}

static void an_isolated_node_keeps_no_residual_back(void **state)
{
    (void)state;
    struct node_options options = usual_options();
    options.withheld = -1;
    start_swarm(1, &options);
    run(5 * SECOND_NS);
    assert_true(told_by(0) > 0);
    assert_true(stats_of(0).withheld == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_fixed_interval_is_kept_on_average, world_begins,
                                        world_ends),
        cmocka_unit_test_setup_teardown(an_isolated_node_publishes_everything, world_begins,
                                        world_ends),
        cmocka_unit_test_setup_teardown(nodes_that_started_together_publish_at_different_times,
                                        world_begins, world_ends),
        cmocka_unit_test_setup_teardown(a_free_interval_follows_the_delay_of_news, world_begins,
                                        world_ends),
        cmocka_unit_test_setup_teardown(a_free_interval_follows_the_duration_of_steps, world_begins,
                                        world_ends),
        cmocka_unit_test_setup_teardown(a_node_that_becomes_faster_publishes_more_often,
                                        world_begins, world_ends),
        cmocka_unit_test_setup_teardown(one_distant_node_makes_no_other_wait, world_begins,
                                        world_ends),
        cmocka_unit_test_setup_teardown(one_dominant_learner_reduces_averaging, world_begins,
                                        world_ends),
        cmocka_unit_test_setup_teardown(a_long_interval_is_dropped_when_the_node_becomes_faster,
                                        world_begins, world_ends),
        cmocka_unit_test_setup_teardown(a_relay_does_not_raise_the_gain, world_begins, world_ends),
        cmocka_unit_test_setup_teardown(a_learner_without_momentum_gets_more_outer_momentum,
                                        world_begins, world_ends),
        cmocka_unit_test_setup_teardown(many_nodes_publish_often_at_first, world_begins,
                                        world_ends),
        cmocka_unit_test_setup_teardown(a_cut_publication_lengthens_the_interval, world_begins,
                                        world_ends),
        cmocka_unit_test_setup_teardown(configured_values_stay_fixed, world_begins, world_ends),
        cmocka_unit_test_setup_teardown(
            statistics_are_held_back_then_moved_by_equal_shares_then_also_pulled, world_begins,
            world_ends),
        cmocka_unit_test_setup_teardown(
            an_ended_member_counts_in_one_more_publication_of_statistics, world_begins, world_ends),
        cmocka_unit_test_setup_teardown(
            a_node_whose_training_has_ended_publishes_nothing_when_it_leaves, world_begins,
            world_ends),
        cmocka_unit_test_setup_teardown(a_quiet_member_takes_no_part_in_the_statistics,
                                        world_begins, world_ends),
        cmocka_unit_test_setup_teardown(a_node_whose_training_has_ended_takes_no_share,
                                        world_begins, world_ends),
        cmocka_unit_test_setup_teardown(the_residual_counts_in_the_weights_as_later_in_the_base,
                                        world_begins, world_ends),
        cmocka_unit_test_setup_teardown(an_isolated_node_keeps_no_residual_back, world_begins,
                                        world_ends),
        cmocka_unit_test_setup_teardown(unique_progress_has_no_higher_gain, world_begins,
                                        world_ends),
        cmocka_unit_test_setup_teardown(publications_before_an_answer_have_no_higher_gain,
                                        world_begins, world_ends),
        cmocka_unit_test_setup_teardown(rare_publications_have_a_higher_gain, world_begins,
                                        world_ends),
        cmocka_unit_test_setup_teardown(thin_lines_cause_fuller_but_not_more_publications,
                                        world_begins, world_ends),
        cmocka_unit_test_setup_teardown(a_leaving_node_publishes_at_once, world_begins, world_ends),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
