/* How nodes leave: together, alone, unheard. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "swarm_world.h"

/* Leaving. */

static void nodes_that_leave_together_leave_with_one_base(void **state)
{
    (void)state;
    start_usual_swarm(5);
    world_run(&world, 10 * SECOND);
    const uint64_t left_ns = world.now_ns;
    for (int i = 0; i < 5; i++) {
        node_leave(world.nodes[i].node, world.now_ns);
        world_run(&world, 100 * MILLI);
    }
    world_run(&world, 25 * SECOND);
    for (int i = 0; i < 5; i++) {
        assert_true(world.nodes[i].finished);
        assert_true(world.nodes[i].finished_ns - left_ns < 10 * SECOND);
        assert_int_equal(world.nodes[i].last[NOTE_LEFT].level, LEVEL_INFO);
        assert_true(world_equal(&world, 0, i));
    }
}

static void a_node_that_leaves_alone_leaves_nothing_unsaid(void **state)
{
    (void)state;
    start_usual_swarm(4);
    world_run(&world, 10 * SECOND);
    node_leave(world.nodes[3].node, world.now_ns);
    struct node_stats last = {0};
    while (!world.nodes[3].finished) {
        last = world_stats(&world, 3);
        world_run(&world, 10 * MILLI);
    }
    assert_int_equal(world.nodes[3].last[NOTE_LEFT].level, LEVEL_INFO);
    world_run(&world, 3 * SECOND);
    must_agree(3 * SECOND);
    assert_int_equal(world_stats(&world, 0).version, rumors_told() + last.rumors_told);
    assert_int_equal(world_stats(&world, 0).members_live, 3);
    assert_int_equal(world.nodes[0].notes[NOTE_MEMBER_LEFT], 1);
    const uint32_t dials = world.nodes[0].dials;
    world_run(&world, 60 * SECOND);
    assert_int_equal(world.nodes[0].dials, dials); /* who has left is not called */
}

static void a_neighbour_that_hears_nothing_holds_a_leaver_no_longer_than_the_grace(void **state)
{
    (void)state;
    struct node_options options = world_options();
    options.silence_ns = 60 * SECOND;
    start_swarm(2, &options);
    world_run(&world, 5 * SECOND);
    world_deafen(&world, 0, 1, true);
    const uint64_t left_ns = world.now_ns;
    node_leave(world.nodes[0].node, world.now_ns);
    world_run(&world, 30 * SECOND);
    assert_true(world.nodes[0].finished);
    assert_true(world.nodes[0].finished_ns - left_ns < 24 * SECOND);
    assert_int_equal(world.nodes[0].last[NOTE_LEFT].level, LEVEL_WARNING);
}

static void a_leaver_that_nobody_hears_does_not_say_it_was_heard(void **state)
{
    (void)state;
    start_usual_swarm(2);
    world_run(&world, 5 * SECOND);
    world_deafen(&world, 0, 1, true);
    node_leave(world.nodes[0].node, world.now_ns);
    world_run(&world, 12 * SECOND); /* longer than silence: no neighbour any more */
    assert_false(world.nodes[0].finished);
    assert_int_equal(neighbours(0), 0);
    const uint64_t told = world_stats(&world, 0).rumors_told;
    world_deafen(&world, 0, 1, false);
    world_run(&world, 10 * SECOND);
    assert_true(world.nodes[0].finished);
    assert_non_null(strstr(world.nodes[0].last[NOTE_LEFT].text, "the neighbours have all"));
    const struct node_stats left = world_stats(&world, 1);
    assert_int_equal(left.version, left.rumors_told + told);
}

static void a_leaver_whose_connection_breaks_calls_again_before_it_goes(void **state)
{
    (void)state;
    start_usual_swarm(3);
    world_run(&world, 10 * SECOND);
    for (int i = 0; i < 3; i++)
        node_leave(world.nodes[i].node, world.now_ns);
    world_cut(&world, 0, 2);
    world_cut(&world, 1, 2);
    world_run(&world, 30 * SECOND);
    for (int i = 0; i < 3; i++) {
        assert_true(world.nodes[i].finished);
        assert_int_equal(world.nodes[i].last[NOTE_LEFT].level, LEVEL_INFO);
        assert_true(world_equal(&world, 0, i));
    }
}

/* The others send their version to one random neighbour a second: a leaver need not wait its turn.
 */
static void a_node_that_leaves_many_neighbours_is_answered_by_all(void **state)
{
    (void)state;
    start_usual_swarm(10);
    world_run(&world, 15 * SECOND);
    assert_true(meshed());
    const uint64_t left_ns = world.now_ns;
    node_leave(world.nodes[9].node, world.now_ns);
    world_run(&world, 25 * SECOND);
    assert_true(world.nodes[9].finished);
    assert_int_equal(world.nodes[9].last[NOTE_LEFT].level, LEVEL_INFO);
    assert_true(world.nodes[9].finished_ns - left_ns < 3 * SECOND);
}

static void a_last_telling_after_the_grace_changes_nothing(void **state)
{
    (void)state;
    start_usual_swarm(2);
    world_run(&world, 5 * SECOND);
    world.nodes[0].learner.tell_ns = 21 * SECOND; /* the grace is 20 s */
    node_leave(world.nodes[0].node, world.now_ns);
    world_run(&world, 19 * SECOND);
    world.nodes[0].send_rate = 10; /* so that saying goodbye takes longer than that */
    world_run(&world, 10 * SECOND);
    assert_true(world.nodes[0].finished);
    assert_int_equal(world.nodes[0].notes[NOTE_LEFT], 1);
}

static void a_node_alone_leaves_soon(void **state)
{
    (void)state;
    start_usual_swarm(1);
    world_run(&world, 3 * SECOND);
    node_leave(world.nodes[0].node, world.now_ns);
    world_run(&world, 3 * SECOND);
    assert_true(world.nodes[0].finished);
}

int main(void)
{
    secret_start();
    const struct CMUnitTest tests[] = {
        STORY(nodes_that_leave_together_leave_with_one_base),
        STORY(a_node_that_leaves_alone_leaves_nothing_unsaid),
        STORY(a_neighbour_that_hears_nothing_holds_a_leaver_no_longer_than_the_grace),
        STORY(a_leaver_that_nobody_hears_does_not_say_it_was_heard),
        STORY(a_leaver_whose_connection_breaks_calls_again_before_it_goes),
        STORY(a_node_that_leaves_many_neighbours_is_answered_by_all),
        STORY(a_last_telling_after_the_grace_changes_nothing),
        STORY(a_node_alone_leaves_soon),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
