/* How rumors reach all nodes despite faults of links and learners. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/sim/swarm_world.h"

static void a_rumor_lost_with_its_connection_is_requested_again(void **state)
{
    (void)state;
    start_usual_swarm(3);
    for (uint32_t i = 0; i < 40; i++) {
        run(270 * MS_NS);
        wire_reset(&world.wire, i % 3, (i + 1) % 3);
    }
    must_agree(8 * SECOND_NS);
    assert_int_equal(stats_of(1).version, rumors_published());
}

/* Returns how many copies of a new rumor a node receives, as a mean over nodes and rumors.
 * heard_before and duplicates_before: sums over all nodes when the measurement began. */
static double copies(uint64_t heard_before, uint64_t duplicates_before)
{
    uint64_t heard = 0, duplicates = 0;
    for (uint32_t i = 0; i < world.nodes_count; i++) {
        heard += stats_of(i).rumors_received;
        duplicates += stats_of(i).duplicates;
    }
    heard -= heard_before;
    assert_true(heard > 100);
    return (double)(heard + duplicates - duplicates_before) / (double)heard;
}

static double copies_after_warm_up(uint64_t warm_up_ns)
{
    run(warm_up_ns);
    uint64_t heard = 0, duplicates = 0;
    for (uint32_t i = 0; i < world.nodes_count; i++) {
        heard += stats_of(i).rumors_received;
        duplicates += stats_of(i).duplicates;
    }
    run(20 * SECOND_NS);
    return copies(heard, duplicates);
}

static void four_nodes_receive_few_duplicates(void **state)
{
    (void)state;
    start_usual_swarm(4);
    const double received = copies_after_warm_up(10 * SECOND_NS);
    print_message("4 nodes: %.3f copies\n", received);
    assert_true(received >= 1 && received <= 1.1);
    must_agree(3 * SECOND_NS);
}

static void twelve_nodes_receive_few_duplicates(void **state)
{
    (void)state;
    struct node_options options = usual_options();
    options.interval_ns = SECOND_NS;
    start_swarm(12, &options);
    const double received = copies_after_warm_up(20 * SECOND_NS);
    print_message("12 nodes: %.3f copies\n", received);
    assert_true(received >= 1 && received <= 1.1);
    uint32_t links = 0;
    for (uint32_t i = 0; i < 12; i++)
        links += neighbours(i);
    assert_true(links < 12 * 11); /* the links are not a full mesh, so nodes forward rumors */
    must_agree(5 * SECOND_NS);
}

static void rumors_reach_nodes_without_a_path_to_their_origin(void **state)
{
    (void)state;
    const struct node_options options = usual_options();
    for (uint32_t i = 0; i < 5; i++)
        (void)add(&options);
    for (uint32_t i = 0; i < 5; i++)
        for (uint32_t j = i + 2; j < 5; j++)
            cut(i, j);
    for (uint32_t i = 1; i < 5; i++)
        world_introduce(&world, i, i - 1);
    start_all();
    run(10 * SECOND_NS);
    assert_int_equal(neighbours(0), 1);
    must_agree(5 * SECOND_NS);
    assert_int_equal(stats_of(0).version, rumors_published());
}

static void a_node_that_comes_late_catches_up(void **state)
{
    (void)state;
    const struct node_options options = usual_options();
    for (uint32_t i = 0; i < 3; i++)
        (void)add(&options);
    world_introduce(&world, 1, 0);
    world_introduce(&world, 2, 0);
    world_introduce(&world, 2, 1);
    world_start(&world, 0);
    world_start(&world, 1);
    run(20 * SECOND_NS);
    const uint64_t known = stats_of(0).version;
    world_start(&world, 2);
    run(5 * SECOND_NS);
    must_agree(5 * SECOND_NS);
    assert_int_equal(stats_of(2).version, rumors_published());
    /* Nearly every rumor came from only one of node 2's two neighbours. */
    assert_true(stats_of(2).duplicates * 10 < known);
}

static void an_answer_cut_by_a_full_queue_continues_as_it_drains(void **state)
{
    (void)state;
    struct node_options options = usual_options();
    options.limits.send_queue_bytes = 1 << 13;
    options.bytes_per_s = 100000;
    options.interval_ns = SECOND_NS / 10;
    options.log_bytes = 8 << 20;
    density_max = PARAMETERS;
    add_swarm(2, &options);
    world_start(&world, 0);
    run(30 * SECOND_NS);
    const struct node_stats before = stats_of(0);
    assert_true(before.rumor_bytes_published > 8 * options.limits.send_queue_bytes);
    world_start(&world, 1);
    run(2 * SECOND_NS); /* too short if each request brought only one full send queue */
    assert_true(stats_of(1).version >= before.version);
}

static void a_slow_uplink_makes_its_links_lazy_and_loses_nothing(void **state)
{
    (void)state;
    struct node_options options = usual_options();
    options.limits.send_queue_bytes = 1 << 16;
    options.bytes_per_s = 100000;
    options.log_bytes = 8 << 20;
    options.interval_ns = SECOND_NS / 10;
    density_max = PARAMETERS;
    start_swarm(3, &options);
    run(5 * SECOND_NS);
    limit_up(0, 1000);
    run(90 * SECOND_NS);
    const struct node_stats slow = stats_of(0);
    assert_true(slow.rumors_sent_copies + 300 < slow.rumors_published);
    limit_up(0, 1000000);
    must_agree(120 * SECOND_NS);
}

static void a_stalled_learner_blocks_no_other_node_and_catches_up(void **state)
{
    (void)state;
    struct node_options options = usual_options();
    options.log_bytes = 1 << 19;
    options.bytes_per_s = 40000;
    density_max = PARAMETERS;
    start_swarm(3, &options);
    run(4 * SECOND_NS);
    world.nodes[2].step_ns = 201 * SECOND_NS;
    run(200 * SECOND_NS);
    const struct node_stats stalled = stats_of(2), other = stats_of(1);
    /* Node 2's log is half full of waiting rumors, so it accepts no more. */
    assert_true(stalled.version + 100 < other.version);
    assert_true(stalled.waiting > 50);
    assert_true(stats_of(0).waiting < 50);
    assert_int_equal(neighbours(2), 2);
    world_rest(&world);
    run(2 * SECOND_NS);
    assert_true(same_base(0, 1));
    assert_true(stats_of(2).version > stalled.version);
    must_agree(10 * SECOND_NS);
}

/* Between two steps the learner applies all updates that have arrived, even if apply_window is
 * small. */
static void a_small_window_lets_no_node_fall_behind(void **state)
{
    (void)state;
    struct node_options options = usual_options();
    options.bytes_per_s = 10000;
    options.interval_ns = SECOND_NS / 10;
    options.steps_min = 1;
    options.limits.apply_window = 1;
    density_max = 4;
    start_swarm(1, &options);
    world_introduce(&world, add(&options), 0);
    density_max = PARAMETERS;
    world_start(&world, 1);
    run(4 * SECOND_NS);
    world.nodes[1].step_ns = 2 * SECOND_NS;
    run(10 * SECOND_NS);
    uint64_t least = UINT64_MAX, most = 0;
    for (int i = 0; i < 100; i++) {
        run(SECOND_NS / 20);
        const uint64_t waiting = node_waiting(world.nodes[1].node);
        least = waiting < least ? waiting : least;
        most = waiting > most ? waiting : most;
    }
    /* far more updates arrive in a step than the apply window has space for */
    assert_true(most >= 10);
    assert_true(least <= 1);
    must_agree(10 * SECOND_NS);
}

static void renewed_session_keys_lose_nothing(void **state)
{
    (void)state;
    struct node_options options = usual_options();
    options.interval_ns = 2 * SECOND_NS;
    paths[HERE][HERE].delay_ns = 150 * MS_NS; /* long enough for both nodes to dial each other */
    start_swarm(2, &options);
    world.nodes[0].step_ns = world.nodes[1].step_ns = SECOND_NS / 2;
    run(590 * SECOND_NS);
    assert_int_equal(world.nodes[0].notes[NOTE_NEIGHBOUR], 1);
    run(80 * SECOND_NS);
    assert_int_equal(world.nodes[0].notes[NOTE_NEIGHBOUR], 2);
    assert_int_equal(world.nodes[0].notes[NOTE_DIAL_FAILED], 0);
    assert_int_equal(world.nodes[0].last[NOTE_NEIGHBOUR_LOST].level, LEVEL_DEBUG);
    assert_int_equal(neighbours(0), 1);
    run(1310 * SECOND_NS); /* session keys are renewed twice */
    assert_int_equal(world.nodes[0].notes[NOTE_NEIGHBOUR], 4);
    assert_int_equal(world.nodes[1].notes[NOTE_NEIGHBOUR], 4);
    must_agree(3 * SECOND_NS);
    assert_int_equal(stats_of(0).version, rumors_published());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(a_rumor_lost_with_its_connection_is_requested_again),
        STORY(four_nodes_receive_few_duplicates),
        STORY(twelve_nodes_receive_few_duplicates),
        STORY(rumors_reach_nodes_without_a_path_to_their_origin),
        STORY(a_node_that_comes_late_catches_up),
        STORY(an_answer_cut_by_a_full_queue_continues_as_it_drains),
        STORY(a_slow_uplink_makes_its_links_lazy_and_loses_nothing),
        STORY(a_stalled_learner_blocks_no_other_node_and_catches_up),
        STORY(a_small_window_lets_no_node_fall_behind),
        STORY(renewed_session_keys_lose_nothing),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
