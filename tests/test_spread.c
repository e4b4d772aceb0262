/* How rumors travel among nodes, whatever happens to links and learners. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "swarm_world.h"

/* Spreading. */

static void a_rumor_lost_with_its_connection_is_asked_for_again(void **state)
{
    (void)state;
    start_usual_swarm(3);
    for (int i = 0; i < 40; i++) {
        world_run(&world, 270 * MILLI);
        world_cut(&world, i % 3, (i + 1) % 3);
    }
    must_agree(8 * SECOND);
    assert_int_equal(world_stats(&world, 1).version, rumors_told());
}

/* Copies received for each rumor, over everybody, since the tally was taken. */
static double copies(uint64_t heard_before, uint64_t duplicates_before)
{
    uint64_t heard = 0, duplicates = 0;
    for (int i = 0; i < world.count; i++) {
        heard += world_stats(&world, i).rumors_heard;
        duplicates += world_stats(&world, i).duplicates;
    }
    heard -= heard_before;
    assert_true(heard > 100);
    return (double)(heard + duplicates - duplicates_before) / (double)heard;
}

static double copies_after_warm_up(uint64_t warm_up_ns)
{
    world_run(&world, warm_up_ns);
    uint64_t heard = 0, duplicates = 0;
    for (int i = 0; i < world.count; i++) {
        heard += world_stats(&world, i).rumors_heard;
        duplicates += world_stats(&world, i).duplicates;
    }
    world_run(&world, 20 * SECOND);
    return copies(heard, duplicates);
}

static void a_rumor_is_heard_hardly_more_than_once_among_four(void **state)
{
    (void)state;
    start_usual_swarm(4);
    const double received = copies_after_warm_up(10 * SECOND);
    print_message("4 nodes: %.3f copies\n", received);
    assert_true(received >= 1 && received <= 1.1);
    must_agree(3 * SECOND);
}

static void a_rumor_is_heard_hardly_more_than_once_among_twelve(void **state)
{
    (void)state;
    struct node_options options = world_options();
    options.interval_ns = SECOND;
    start_swarm(12, &options);
    const double received = copies_after_warm_up(20 * SECOND);
    print_message("12 nodes: %.3f copies\n", received);
    assert_true(received >= 1 && received <= 1.1);
    uint32_t links = 0;
    for (int i = 0; i < 12; i++)
        links += neighbours(i);
    assert_true(links < 12 * 11); /* not meshed: rumors are passed on */
    must_agree(5 * SECOND);
}

static void rumors_reach_those_who_cannot_reach_their_origin(void **state)
{
    (void)state;
    const struct node_options options = world_options();
    for (int i = 0; i < 5; i++)
        (void)world_add_node(&world, &options);
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 5; j++)
            world.blocked[i][j] = j != i + 1 && j != i - 1;
    for (int i = 1; i < 5; i++)
        world_seed(&world, i, i - 1);
    for (int i = 0; i < 5; i++)
        world_start_node(&world, i);
    world_run(&world, 10 * SECOND);
    assert_int_equal(neighbours(0), 1);
    must_agree(5 * SECOND);
    assert_int_equal(world_stats(&world, 0).version, rumors_told());
}

static void a_node_that_comes_late_catches_up(void **state)
{
    (void)state;
    const struct node_options options = world_options();
    for (int i = 0; i < 3; i++)
        (void)world_add_node(&world, &options);
    world_seed(&world, 1, 0);
    world_seed(&world, 2, 0);
    world_seed(&world, 2, 1);
    world_start_node(&world, 0);
    world_start_node(&world, 1);
    world_run(&world, 20 * SECOND);
    const uint64_t known = world_stats(&world, 0).version;
    world_start_node(&world, 2);
    world_run(&world, 5 * SECOND);
    must_agree(5 * SECOND);
    assert_int_equal(world_stats(&world, 2).version, rumors_told());
    assert_true(world_stats(&world, 2).duplicates * 10 < known); /* not both sent everything */
}

static void what_a_full_queue_cuts_short_goes_on_as_it_drains(void **state)
{
    (void)state;
    struct node_options options = world_options();
    options.send_queue_bytes = 1 << 13;
    options.bytes_per_s = 100000;
    options.interval_ns = SECOND / 10;
    options.log_bytes = 8 << 20;
    (void)world_add_node(&world, &options);
    (void)world_add_node(&world, &options);
    world_seed(&world, 1, 0);
    world.nodes[0].learner.entries_most = WORLD_PARAMETERS;
    world_start_node(&world, 0);
    world_run(&world, 30 * SECOND);
    const struct node_stats before = world_stats(&world, 0);
    assert_true(before.told_bytes > 8 * options.send_queue_bytes);
    world_start_node(&world, 1);
    world_run(&world, 2 * SECOND); /* asking again for each queue took half a second and more */
    assert_true(world_stats(&world, 1).version >= before.version);
}

static void a_slow_uplink_makes_its_links_lazy_and_loses_nothing(void **state)
{
    (void)state;
    struct node_options options = world_options();
    options.send_queue_bytes = 1 << 17;
    options.bytes_per_s = 100000;
    options.log_bytes = 8 << 20;
    options.interval_ns = SECOND / 10;
    options.silence_ns = 600 * SECOND; /* a send arrives here only when all of it is there */
    start_swarm(3, &options);
    for (int i = 0; i < 3; i++)
        world.nodes[i].learner.entries_most = WORLD_PARAMETERS;
    world_run(&world, 5 * SECOND);
    world.nodes[0].send_rate = 2000;
    world_run(&world, 90 * SECOND);
    assert_false(world_equal(&world, 0, 1));
    world.nodes[0].send_rate = 1000000;
    must_agree(120 * SECOND);
}

static void a_stalled_learner_blocks_nobody_and_catches_up(void **state)
{
    (void)state;
    struct node_options options = world_options();
    options.log_bytes = 1 << 19;
    options.bytes_per_s = 40000;
    start_swarm(3, &options);
    for (int i = 0; i < 3; i++)
        world.nodes[i].learner.entries_most = WORLD_PARAMETERS;
    world_run(&world, 4 * SECOND);
    world.nodes[2].learner.stalled = true;
    world_run(&world, 200 * SECOND);
    const struct node_stats stalled = world_stats(&world, 2), other = world_stats(&world, 1);
    assert_true(stalled.version < other.version); /* its log refuses at half */
    assert_true(stalled.waiting > 50);
    assert_true(world_stats(&world, 0).waiting < 50);
    assert_int_equal(neighbours(2), 2);
    world.nodes[2].learner.stalled = false;
    world_rest(&world);
    world_run(&world, SECOND);
    assert_true(world_equal(&world, 0, 1));
    assert_true(world_stats(&world, 2).version > stalled.version);
}

static void a_learner_that_hears_too_slowly_is_not_asked_to_tell(void **state)
{
    (void)state;
    struct node_options options = world_options();
    options.log_bytes = 1 << 20;
    options.bytes_per_s = 200000;
    options.interval_ns = SECOND / 10;
    start_swarm(2, &options);
    for (int i = 0; i < 2; i++)
        world.nodes[i].learner.entries_most = WORLD_PARAMETERS;
    world_run(&world, 4 * SECOND);
    world.nodes[1].learner.apply_ns = 3000 * SECOND; /* but it goes on making steps */
    world_run(&world, 240 * SECOND);
    const struct node_stats slow = world_stats(&world, 1);
    assert_true(slow.rumors_told < world_stats(&world, 0).rumors_told);
    world_run(&world, 60 * SECOND);
    assert_int_equal(world_stats(&world, 1).rumors_told, slow.rumors_told);
}

static void new_keys_lose_nothing(void **state)
{
    (void)state;
    struct node_options options = world_options();
    options.interval_ns = 2 * SECOND;
    world.latency_ns = 150 * MILLI; /* long enough for both to call, if both did */
    start_swarm(2, &options);
    world.nodes[0].learner.step_ns = world.nodes[1].learner.step_ns = SECOND / 2;
    world_run(&world, 590 * SECOND);
    assert_int_equal(world.nodes[0].notes[NOTE_NEIGHBOUR], 1);
    world_run(&world, 80 * SECOND);
    assert_int_equal(world.nodes[0].notes[NOTE_NEIGHBOUR], 2);
    assert_int_equal(world.nodes[0].notes[NOTE_DIAL_FAILED], 0);
    assert_int_equal(world.nodes[0].last[NOTE_NEIGHBOUR_LOST].level, LEVEL_DEBUG);
    assert_int_equal(neighbours(0), 1);
    world_run(&world, 1310 * SECOND); /* twice more: only who called before calls again */
    assert_int_equal(world.nodes[0].notes[NOTE_NEIGHBOUR], 4);
    assert_int_equal(world.nodes[1].notes[NOTE_NEIGHBOUR], 4);
    must_agree(3 * SECOND);
    assert_int_equal(world_stats(&world, 0).version, rumors_told());
}

int main(void)
{
    secret_start();
    const struct CMUnitTest tests[] = {
        STORY(a_rumor_lost_with_its_connection_is_asked_for_again),
        STORY(a_rumor_is_heard_hardly_more_than_once_among_four),
        STORY(a_rumor_is_heard_hardly_more_than_once_among_twelve),
        STORY(rumors_reach_those_who_cannot_reach_their_origin),
        STORY(a_node_that_comes_late_catches_up),
        STORY(what_a_full_queue_cuts_short_goes_on_as_it_drains),
        STORY(a_slow_uplink_makes_its_links_lazy_and_loses_nothing),
        STORY(a_stalled_learner_blocks_nobody_and_catches_up),
        STORY(a_learner_that_hears_too_slowly_is_not_asked_to_tell),
        STORY(new_keys_lose_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
