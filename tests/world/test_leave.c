/* How nodes leave: all together, one by one, or without connections. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/sim/fetch_story.h"

static void nodes_that_leave_together_leave_with_one_base(void **state)
{
    (void)state;
    start_usual_swarm(5);
    run(10 * SECOND_NS);
    /* Node 4 publishes for the last time after a long step. */
    world.nodes[4].step_ns = 700 * MS_NS;
    const uint64_t left_ns = world_now_ns(&world);
    for (uint32_t i = 0; i < 5; i++) {
        world_leave(&world, i);
        run(240 * MS_NS); /* node 4 leaves while node 0 waits for news */
    }
    run(25 * SECOND_NS);
    for (uint32_t i = 0; i < 5; i++) {
        assert_true(world.nodes[i].finished);
        assert_true(world.nodes[i].finished_ns - left_ns < 10 * SECOND_NS);
        assert_int_equal(world.nodes[i].last[NOTE_LEFT].level, LEVEL_INFO);
        assert_true(same_base(0, i));
    }
}

static void a_leaving_node_publishes_everything(void **state)
{
    (void)state;
    start_usual_swarm(4);
    run(10 * SECOND_NS);
    const uint64_t told = stats_of(3).rumors_published;
    world_leave(&world, 3);
    struct node_stats last = {0};
    while (!world.nodes[3].finished) {
        last = stats_of(3);
        run(10 * MS_NS);
    }
    assert_int_equal(world.nodes[3].last[NOTE_LEFT].level, LEVEL_INFO);
    assert_true(last.rumors_published <= told + 1);
    run(3 * SECOND_NS);
    must_agree(3 * SECOND_NS);
    assert_int_equal(stats_of(0).version, rumors_published() + last.rumors_published);
    assert_int_equal(stats_of(0).members_live, 3);
    assert_int_equal(world.nodes[0].notes[NOTE_MEMBER_LEFT], 1);
    const uint32_t dials = world.nodes[0].dials;
    run(60 * SECOND_NS);
    assert_int_equal(world.nodes[0].dials, dials);
}

static void a_silent_neighbour_delays_leaving_at_most_the_grace_time(void **state)
{
    (void)state;
    struct node_options options = usual_options();
    options.limits.silence_ns = 60 * SECOND_NS;
    start_swarm(2, &options);
    run(5 * SECOND_NS);
    cut(0, 1);
    const uint64_t left_ns = world_now_ns(&world);
    world_leave(&world, 0);
    run(30 * SECOND_NS);
    assert_true(world.nodes[0].finished);
    assert_true(world.nodes[0].finished_ns - left_ns < 24 * SECOND_NS);
    assert_int_equal(world.nodes[0].last[NOTE_LEFT].level, LEVEL_WARNING);
}

static void an_unreachable_leaver_does_not_claim_delivery(void **state)
{
    (void)state;
    start_usual_swarm(2);
    run(5 * SECOND_NS);
    cut(0, 1);
    world_leave(&world, 0);
    run(12 * SECOND_NS); /* longer than the silence timeout, so node 0 has no neighbours */
    assert_false(world.nodes[0].finished);
    assert_int_equal(neighbours(0), 0);
    const uint64_t told = stats_of(0).rumors_published;
    heal_cut(0, 1);
    run(10 * SECOND_NS);
    assert_true(world.nodes[0].finished);
    assert_non_null(strstr(world.nodes[0].last[NOTE_LEFT].text, "the neighbours have all"));
    const struct node_stats left = stats_of(1);
    assert_int_equal(left.version, left.rumors_published + told);
}

static void a_leaver_reconnects_before_it_goes(void **state)
{
    (void)state;
    start_usual_swarm(3);
    run(10 * SECOND_NS);
    for (uint32_t i = 0; i < 3; i++)
        world_leave(&world, i);
    wire_reset(&world.wire, 0, 2);
    wire_reset(&world.wire, 1, 2);
    run(30 * SECOND_NS);
    for (uint32_t i = 0; i < 3; i++) {
        assert_true(world.nodes[i].finished);
        assert_int_equal(world.nodes[i].last[NOTE_LEFT].level, LEVEL_INFO);
        assert_true(same_base(0, i));
    }
}

/* Nodes 1 and 2 are connected only through node 0. If node 0 leaves first, they must not wait until
 * each counts the other as dead. */
static void nodes_behind_one_hub_leave_together_with_it(void **state)
{
    for (uint32_t later = 0; later < 20; later++) {
        start_usual_swarm(3);
        cut(1, 2);
        run(10 * SECOND_NS + later * 37 * MS_NS);
        const uint64_t left_ns = world_now_ns(&world);
        for (uint32_t i = 0; i < 3; i++) {
            world_leave(&world, i);
            run(later * 10 * MS_NS);
        }
        run(30 * SECOND_NS);
        for (uint32_t i = 0; i < 3; i++) {
            assert_true(world.nodes[i].finished);
            assert_true(world.nodes[i].finished_ns - left_ns < 8 * SECOND_NS);
            assert_int_equal(world.nodes[i].last[NOTE_LEFT].level, LEVEL_INFO);
            assert_true(same_base(0, i));
        }
        world_ends(state);
        begin_world(2 + later);
    }
}

/* Nodes send their version to one random neighbour a second. A leaver must not wait for these
 * versions. */
static void a_leaver_is_answered_by_all_neighbours(void **state)
{
    (void)state;
    start_usual_swarm(10);
    run(15 * SECOND_NS);
    assert_true(meshed());
    const uint64_t left_ns = world_now_ns(&world);
    world_leave(&world, 9);
    run(25 * SECOND_NS);
    assert_true(world.nodes[9].finished);
    assert_int_equal(world.nodes[9].last[NOTE_LEFT].level, LEVEL_INFO);
    assert_true(world.nodes[9].finished_ns - left_ns < 3 * SECOND_NS);
}

static void a_publication_after_the_grace_time_changes_nothing(void **state)
{
    (void)state;
    start_usual_swarm(2);
    run(5 * SECOND_NS);
    /* The step is longer than the grace time of 20 s. */
    world.nodes[0].step_ns = 21 * SECOND_NS;
    run(100 * MS_NS);
    world_leave(&world, 0);
    run(19 * SECOND_NS);
    cut(0, 1); /* delays the goodbye beyond the grace time */
    run(1500 * MS_NS);
    assert_int_equal(world.nodes[0].notes[NOTE_LEFT], 1);
    const uint64_t told = stats_of(0).rumors_published;
    run(SECOND_NS);
    assert_false(world.nodes[0].finished);
    assert_true(stats_of(0).rumors_published > told);
    run(SECOND_NS);
    assert_true(world.nodes[0].finished);
    assert_int_equal(world.nodes[0].notes[NOTE_LEFT], 1);
}

static void an_isolated_node_leaves_soon(void **state)
{
    (void)state;
    start_usual_swarm(1);
    run(3 * SECOND_NS);
    world_leave(&world, 0);
    run(3 * SECOND_NS);
    assert_true(world.nodes[0].finished);
}

static void an_isolated_node_publishes_everything_before_it_leaves(void **state)
{
    (void)state;
    double residual[PARAMETERS];
    struct node_options options = usual_options();
    options.bytes_per_s = 300;
    start_swarm(1, &options);
    run(3 * SECOND_NS);
    residual_of(0, residual);
    const double before = sum_of_sizes(residual);
    world_leave(&world, 0);
    run(3 * SECOND_NS);
    assert_true(world.nodes[0].finished);
    residual_of(0, residual);
    assert_true(sum_of_sizes(residual) * 20 < before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(nodes_that_leave_together_leave_with_one_base),
        STORY(a_leaving_node_publishes_everything),
        STORY(a_silent_neighbour_delays_leaving_at_most_the_grace_time),
        STORY(an_unreachable_leaver_does_not_claim_delivery),
        STORY(a_leaver_reconnects_before_it_goes),
        STORY(nodes_behind_one_hub_leave_together_with_it),
        STORY(a_leaver_is_answered_by_all_neighbours),
        STORY(a_publication_after_the_grace_time_changes_nothing),
        STORY(an_isolated_node_leaves_soon),
        STORY(an_isolated_node_publishes_everything_before_it_leaves),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
