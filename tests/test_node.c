/* Nodes among nodes: stories in a world of links in memory and a clock that is a number (world.h).
 * After every event of every story the node's digest is compared with its learner's base. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "world.h"

static struct world world;

static int world_begins(void **state)
{
    (void)state;
    world_init(&world, 1);
    return 0;
}

static int world_ends(void **state)
{
    (void)state;
    world_free(&world);
    return 0;
}

/* n nodes; each knows where the first is. */
static void start_swarm(int n, const struct node_options *options)
{
    for (int i = 0; i < n; i++) {
        (void)world_add_node(&world, options);
        if (i > 0)
            world_seed(&world, i, 0);
    }
    for (int i = 0; i < n; i++)
        world_start_node(&world, i);
}

static void start_usual_swarm(int n)
{
    const struct node_options options = world_options();
    start_swarm(n, &options);
}

static uint32_t neighbours(int i)
{
    return world_stats(&world, i).neighbours;
}

static bool meshed(void)
{
    for (int i = 0; i < world.count; i++)
        if (world.nodes[i].node && neighbours(i) != (uint32_t)world.count - 1)
            return false;
    return true;
}

/* Training pauses; soon everybody holds the same. */
static void must_agree(uint64_t within_ns)
{
    world_rest(&world);
    world_run(&world, within_ns);
    assert_true(world_all_equal(&world));
}

static uint64_t rumors_told(void)
{
    uint64_t told = 0;
    for (int i = 0; i < world.count; i++)
        told += world.nodes[i].node ? world_stats(&world, i).rumors_told : 0;
    return told;
}

static void assert_near(double got, double want, double apart)
{
    if (!(got >= want - apart && got <= want + apart))
        fail_msg("%g is not near %g", got, want);
}

/* Meeting. */

static void two_nodes_meet_and_exchange_rumors(void **state)
{
    (void)state;
    start_usual_swarm(2);
    world_run(&world, 10 * SECOND);
    assert_int_equal(neighbours(0), 1);
    assert_int_equal(neighbours(1), 1);
    assert_true(world_stats(&world, 0).rumors_told >= 10);
    assert_true(world_stats(&world, 1).rumors_heard >= 10);
    must_agree(2 * SECOND);
    assert_int_equal(world_stats(&world, 0).version, rumors_told());
    assert_int_not_equal(world_stats(&world, 0).digest, world.nodes[0].options.digest);
}

static void one_address_is_enough_to_meet_all(void **state)
{
    (void)state;
    start_usual_swarm(5);
    world_run(&world, 10 * SECOND);
    assert_true(meshed());
    for (int i = 0; i < 5; i++)
        assert_int_equal(world_stats(&world, i).members_live, 5);
    must_agree(3 * SECOND);
    assert_int_equal(world_stats(&world, 4).version, rumors_told());
}

static void nodes_that_call_each_other_at_once_keep_one_conversation(void **state)
{
    (void)state;
    const struct node_options options = world_options();
    for (int i = 0; i < 4; i++)
        (void)world_add_node(&world, &options);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            if (i != j)
                world_seed(&world, i, j);
    for (int i = 0; i < 4; i++)
        world_start_node(&world, i);
    world_run(&world, 3 * SECOND);
    assert_true(meshed());
    uint32_t dials = 0;
    for (int i = 0; i < 4; i++) {
        dials += world.nodes[i].dials;
        assert_int_equal(world.nodes[i].notes[NOTE_NEIGHBOUR_LOST], 0);
    }
    assert_true(dials >= 12); /* they did call each other at once */
    world_run(&world, 20 * SECOND);
    assert_true(meshed());
    for (int i = 0; i < 4; i++)
        dials -= world.nodes[i].dials;
    assert_int_equal(dials, 0); /* and it is settled for good */
    must_agree(3 * SECOND);
}

static void a_node_that_calls_itself_notices_and_stops(void **state)
{
    (void)state;
    start_usual_swarm(2);
    world_run(&world, SECOND);
    world_kill(&world, 0);
    world_seed(&world, 0, 0);
    world.nodes[0].options.incarnation = 2;
    world.nodes[0].dials = 0;
    world_start_node(&world, 0);
    world_run(&world, 60 * SECOND);
    assert_int_equal(neighbours(0), 1);
    assert_true(world.nodes[0].dials <= 3);
    assert_int_equal(world.nodes[0].notes[NOTE_IDENTITY_TAKEN], 0);
}

static void two_nodes_with_one_identity_are_both_told(void **state)
{
    (void)state;
    const struct node_options options = world_options();
    (void)world_add_node(&world, &options);
    (void)world_add_node(&world, &options);
    world_identity(&world.nodes[1].identity, 1);
    world.nodes[1].options.incarnation = 9;
    world_seed(&world, 1, 0);
    world_start_node(&world, 0);
    world_start_node(&world, 1);
    world_run(&world, 3 * SECOND);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(neighbours(i), 0);
        assert_true(world.nodes[i].notes[NOTE_IDENTITY_TAKEN] > 0);
        assert_int_equal(world.nodes[i].last[NOTE_IDENTITY_TAKEN].level, LEVEL_ERROR);
    }
}

static void of_two_nodes_with_one_identity_a_third_keeps_the_later(void **state)
{
    (void)state;
    const struct node_options options = world_options();
    for (int i = 0; i < 3; i++)
        (void)world_add_node(&world, &options);
    world_identity(&world.nodes[1].identity, 1);
    world.nodes[1].options.incarnation = 9;
    world.blocked[0][1] = world.blocked[1][0] = true;
    world_seed(&world, 0, 2);
    world_seed(&world, 1, 2);
    for (int i = 0; i < 3; i++)
        world_start_node(&world, i);
    world_run(&world, 10 * SECOND);
    assert_int_equal(neighbours(0), 0);
    assert_int_equal(neighbours(1), 1);
    assert_true(world.nodes[0].notes[NOTE_IDENTITY_TAKEN] > 0);
    assert_true(world.nodes[0].notes[NOTE_IDENTITY_TAKEN] < 20);
}

/* Calling. */

static void a_call_that_fails_is_tried_again_for_ever_and_ever_more_rarely(void **state)
{
    (void)state;
    const struct node_options options = world_options();
    (void)world_add_node(&world, &options);
    (void)world_add_node(&world, &options);
    world_seed(&world, 1, 0);
    world_start_node(&world, 1);
    world_run(&world, 10 * SECOND);
    const uint32_t first = world.nodes[1].dials;
    assert_in_range(first, 4, 10);
    world_run(&world, 600 * SECOND);
    const uint32_t later = world.nodes[1].dials - first;
    assert_in_range(later, 600 / 38, 600 / 15);
    assert_non_null(strstr(world.nodes[1].last[NOTE_DIAL_FAILED].text, "connection refused"));
    assert_in_range(world.nodes[1].notes[NOTE_DIAL_FAILED], 3, 8);
    assert_string_equal(world.nodes[1].last[NOTE_DIAL_FAILED].where, "10.0.0.1:7000");
    world_start_node(&world, 0);
    world_run(&world, 45 * SECOND);
    assert_int_equal(neighbours(1), 1);
}

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
    world_start_node(&world, 0);
    world_start_node(&world, 1);
    world_run(&world, 20 * SECOND);
    world_start_node(&world, 2);
    world_run(&world, 5 * SECOND);
    must_agree(5 * SECOND);
    assert_int_equal(world_stats(&world, 2).version, rumors_told());
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
    start_swarm(2, &options);
    world.nodes[0].learner.step_ns = world.nodes[1].learner.step_ns = SECOND / 2;
    world_run(&world, 590 * SECOND);
    assert_int_equal(world.nodes[0].notes[NOTE_NEIGHBOUR], 1);
    world_run(&world, 80 * SECOND);
    assert_int_equal(world.nodes[0].notes[NOTE_NEIGHBOUR], 2);
    assert_int_equal(world.nodes[0].notes[NOTE_DIAL_FAILED], 0);
    assert_int_equal(world.nodes[0].last[NOTE_NEIGHBOUR_LOST].level, LEVEL_DEBUG);
    assert_int_equal(neighbours(0), 1);
    must_agree(3 * SECOND);
    assert_int_equal(world_stats(&world, 0).version, rumors_told());
}

/* Living and dying. */

static void when_a_node_is_killed_the_others_agree_on_what_it_told(void **state)
{
    (void)state;
    start_usual_swarm(4);
    world_run(&world, 8130 * MILLI);
    world_kill(&world, 2);
    world_run(&world, 5 * SECOND);
    must_agree(5 * SECOND);
    assert_true(world_stats(&world, 0).version > rumors_told());
}

static void a_silent_member_dies_and_lives_again_when_it_comes_back(void **state)
{
    (void)state;
    start_usual_swarm(3);
    world_run(&world, 5 * SECOND);
    assert_int_equal(world_stats(&world, 0).members_live, 3);
    world_deafen(&world, 0, 2, true);
    world_deafen(&world, 1, 2, true);
    world_run(&world, 30 * SECOND);
    assert_int_equal(world_stats(&world, 0).members_live, 2);
    assert_int_equal(neighbours(0), 1);
    assert_int_equal(world.nodes[0].notes[NOTE_MEMBER_DEAD], 1);
    assert_int_equal(world.nodes[2].notes[NOTE_MEMBER_DEAD], 2);
    world_deafen(&world, 0, 2, false);
    world_deafen(&world, 1, 2, false);
    world_run(&world, 60 * SECOND);
    assert_int_equal(world_stats(&world, 0).members_live, 3);
    assert_true(meshed());
    must_agree(5 * SECOND);
}

static void one_deaf_link_does_not_make_a_member_dead(void **state)
{
    (void)state;
    start_usual_swarm(3);
    world_run(&world, 5 * SECOND);
    world_deafen(&world, 0, 2, true);
    world_run(&world, 60 * SECOND);
    assert_int_equal(world_stats(&world, 0).members_live, 3);
    assert_int_equal(world.nodes[0].notes[NOTE_MEMBER_DEAD], 0);
    must_agree(5 * SECOND);
}

static void a_node_that_was_killed_begins_a_new_life(void **state)
{
    (void)state;
    start_usual_swarm(3);
    world_run(&world, 5 * SECOND);
    world_kill(&world, 2);
    world_run(&world, 2 * SECOND);
    world.nodes[2].options.incarnation++;
    world_start_node(&world, 2);
    world_run(&world, 10 * SECOND);
    assert_true(meshed());
    must_agree(5 * SECOND);
    assert_int_equal(world_stats(&world, 0).origins, 4);
}

/* Shares. */

static void shares_follow_throughput_and_sum_to_one(void **state)
{
    (void)state;
    struct node_options options = world_options();
    for (int i = 0; i < 4; i++) {
        options.trains = i < 3;
        (void)world_add_node(&world, &options);
        world_seed(&world, i, 0);
        world.nodes[i].learner.step_samples = 16u << i;
    }
    for (int i = 0; i < 4; i++)
        world_start_node(&world, i);
    world_run(&world, 20 * SECOND);
    double share[3];
    for (int i = 0; i < 3; i++)
        share[i] = world.nodes[i].learner.share;
    assert_near(share[0] + share[1] + share[2], 1, 0.02);
    assert_near(share[1] / share[0], 2, 0.1);
    assert_near(share[2] / share[0], 4, 0.2);
    must_agree(3 * SECOND);
    assert_true(world_stats(&world, 3).rumors_heard > 0);
}

/* The last one meets only the other newcomer, and so never shows it anything that it lacks. */
static void who_joins_does_not_take_another_newcomer_for_the_swarm(void **state)
{
    (void)state;
    start_usual_swarm(2);
    world_run(&world, 30 * SECOND);
    const uint64_t known = world_stats(&world, 0).version;
    const struct node_options options = world_options();
    (void)world_add_node(&world, &options);
    (void)world_add_node(&world, &options);
    world_seed(&world, 2, 0);
    world_seed(&world, 2, 3);
    world_seed(&world, 3, 2);
    for (int i = 0; i < 2; i++) {
        world.blocked[i][3] = world.blocked[3][i] = true;
        world.nodes[i].send_rate = 10000; /* catching up takes some seconds */
    }
    world_start_node(&world, 2);
    world_start_node(&world, 3);
    for (int i = 2; i < 4; i++) {
        while (!world.nodes[i].training)
            world_run(&world, 10 * MILLI);
        assert_true(world_stats(&world, i).version + 2 >= known); /* but for what is on its way */
    }
}

static void a_node_that_has_stopped_learning_leaves_the_share_to_the_others(void **state)
{
    (void)state;
    start_usual_swarm(2);
    world_run(&world, 10 * SECOND);
    assert_near(world.nodes[0].learner.share, 0.5, 0.05);
    world.nodes[1].learner.ended = true;
    world_run(&world, 400 * SECOND);
    assert_near(world.nodes[0].learner.share, 1, 0.001);
}

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
    world_run(&world, 14 * SECOND); /* longer than silence: no neighbour any more */
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

/* Determinism. */

static uint64_t trace_of(uint64_t seed)
{
    world_free(&world);
    world_init(&world, seed);
    start_usual_swarm(4);
    world_run(&world, 5 * SECOND);
    world_cut(&world, 0, 3);
    world_run(&world, 5 * SECOND);
    return world.trace;
}

static void the_same_seed_gives_the_same_trace(void **state)
{
    (void)state;
    const uint64_t trace = trace_of(3);
    assert_int_equal(trace_of(3), trace);
    assert_int_not_equal(trace_of(4), trace);
}

#define STORY(name) cmocka_unit_test_setup_teardown(name, world_begins, world_ends)

int main(void)
{
    secret_start();
    const struct CMUnitTest tests[] = {
        STORY(two_nodes_meet_and_exchange_rumors),
        STORY(one_address_is_enough_to_meet_all),
        STORY(nodes_that_call_each_other_at_once_keep_one_conversation),
        STORY(a_node_that_calls_itself_notices_and_stops),
        STORY(two_nodes_with_one_identity_are_both_told),
        STORY(of_two_nodes_with_one_identity_a_third_keeps_the_later),
        STORY(a_call_that_fails_is_tried_again_for_ever_and_ever_more_rarely),
        STORY(a_rumor_lost_with_its_connection_is_asked_for_again),
        STORY(a_rumor_is_heard_hardly_more_than_once_among_four),
        STORY(a_rumor_is_heard_hardly_more_than_once_among_twelve),
        STORY(rumors_reach_those_who_cannot_reach_their_origin),
        STORY(a_node_that_comes_late_catches_up),
        STORY(a_slow_uplink_makes_its_links_lazy_and_loses_nothing),
        STORY(a_stalled_learner_blocks_nobody_and_catches_up),
        STORY(a_learner_that_hears_too_slowly_is_not_asked_to_tell),
        STORY(new_keys_lose_nothing),
        STORY(when_a_node_is_killed_the_others_agree_on_what_it_told),
        STORY(a_silent_member_dies_and_lives_again_when_it_comes_back),
        STORY(one_deaf_link_does_not_make_a_member_dead),
        STORY(a_node_that_was_killed_begins_a_new_life),
        STORY(shares_follow_throughput_and_sum_to_one),
        STORY(who_joins_does_not_take_another_newcomer_for_the_swarm),
        STORY(a_node_that_has_stopped_learning_leaves_the_share_to_the_others),
        STORY(nodes_that_leave_together_leave_with_one_base),
        STORY(a_node_that_leaves_alone_leaves_nothing_unsaid),
        STORY(a_neighbour_that_hears_nothing_holds_a_leaver_no_longer_than_the_grace),
        STORY(a_leaver_that_nobody_hears_does_not_say_it_was_heard),
        STORY(a_leaver_whose_connection_breaks_calls_again_before_it_goes),
        STORY(a_node_that_leaves_many_neighbours_is_answered_by_all),
        STORY(a_last_telling_after_the_grace_changes_nothing),
        STORY(a_node_alone_leaves_soon),
        STORY(the_same_seed_gives_the_same_trace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
