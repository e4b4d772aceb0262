/* Nodes in virtual time: how they meet, die, return and join, and which shares they have. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/sim/swarm_world.h"

static void two_nodes_meet_and_exchange_rumors(void **state)
{
    (void)state;
    start_usual_swarm(2);
    run(10 * SECOND_NS);
    assert_int_equal(neighbours(0), 1);
    assert_int_equal(neighbours(1), 1);
    assert_true(stats_of(0).rumors_published >= 10);
    assert_true(stats_of(1).rumors_received >= 10);
    must_agree(2 * SECOND_NS);
    assert_int_equal(stats_of(0).version, rumors_published());
    assert_int_not_equal(stats_of(0).digest, world.nodes[0].options.digest);
}

static void one_address_is_enough_to_meet_all(void **state)
{
    (void)state;
    start_usual_swarm(5);
    run(10 * SECOND_NS);
    assert_true(meshed());
    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal(stats_of(i).members_live, 5);
    must_agree(3 * SECOND_NS);
    assert_int_equal(stats_of(4).version, rumors_published());
}

static void nodes_that_call_each_other_at_once_keep_one_connection(void **state)
{
    (void)state;
    const struct node_options options = usual_options();
    for (uint32_t i = 0; i < 4; i++)
        (void)add(&options);
    for (uint32_t i = 0; i < 4; i++)
        for (uint32_t j = 0; j < 4; j++)
            if (i != j)
                world_introduce(&world, i, j);
    start_all();
    run(3 * SECOND_NS);
    assert_true(meshed());
    uint32_t dials = 0;
    for (uint32_t i = 0; i < 4; i++) {
        dials += world.nodes[i].dials;
        assert_int_equal(world.nodes[i].notes[NOTE_NEIGHBOUR_LOST], 0);
    }
    assert_true(dials >= 12);
    run(20 * SECOND_NS);
    assert_true(meshed());
    for (uint32_t i = 0; i < 4; i++)
        dials -= world.nodes[i].dials;
    assert_int_equal(dials, 0);
    must_agree(3 * SECOND_NS);
}

static void a_node_that_calls_itself_notices_and_stops(void **state)
{
    (void)state;
    start_usual_swarm(2);
    run(SECOND_NS);
    world_kill(&world, 0, false);
    world_introduce(&world, 0, 0);
    world.nodes[0].dials = 0;
    world_start(&world, 0);
    run(60 * SECOND_NS);
    assert_int_equal(neighbours(0), 1);
    assert_true(world.nodes[0].dials <= 3);
    assert_int_equal(world.nodes[0].notes[NOTE_IDENTITY_TAKEN], 0);
}

static void two_nodes_with_one_identity_are_both_notified(void **state)
{
    (void)state;
    const struct node_options options = usual_options();
    (void)add_as(&options, 1);
    (void)add_as(&options, 1);
    world.nodes[1].clock_ms = 8;
    world_introduce(&world, 1, 0);
    start_all();
    run(3 * SECOND_NS);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(neighbours(i), 0);
        assert_true(world.nodes[i].notes[NOTE_IDENTITY_TAKEN] > 0);
        assert_int_equal(world.nodes[i].last[NOTE_IDENTITY_TAKEN].level, LEVEL_ERROR);
    }
}

static void a_third_node_keeps_the_later_of_two_with_one_identity(void **state)
{
    (void)state;
    const struct node_options options = usual_options();
    for (uint32_t i = 0; i < 3; i++)
        (void)add_as(&options, i < 2 ? 1 : 2);
    world.nodes[1].clock_ms = 8;
    cut(0, 1);
    world_introduce(&world, 0, 2);
    world_introduce(&world, 1, 2);
    start_all();
    run(60 * SECOND_NS);
    assert_int_equal(neighbours(0), 0);
    assert_int_equal(neighbours(1), 1);
    assert_true(world.nodes[0].notes[NOTE_IDENTITY_TAKEN] > 0);
    /* Node 0 waits before it dials again. */
    assert_true(world.nodes[0].notes[NOTE_IDENTITY_TAKEN] < 8);
}

static void a_failed_call_is_retried_with_growing_delays(void **state)
{
    (void)state;
    const struct node_options options = usual_options();
    const struct note *failed = &world.nodes[1].last[NOTE_DIAL_FAILED];
    add_swarm(2, &options);
    world_start(&world, 1);
    run(SECOND_NS / 2);
    assert_int_equal(world.nodes[1].notes[NOTE_DIAL_FAILED], 1);
    /* at first only INFO, because the peer may still be starting */
    assert_int_equal(failed->level, LEVEL_INFO);
    run(10 * SECOND_NS - SECOND_NS / 2);
    assert_int_equal(failed->level, LEVEL_WARNING);
    const uint32_t first = world.nodes[1].dials;
    assert_in_range(first, 4, 10);
    run(600 * SECOND_NS);
    const uint32_t later = world.nodes[1].dials - first;
    assert_in_range(later, 600 / 38, 600 / 15);
    assert_non_null(strstr(world.nodes[1].last[NOTE_DIAL_FAILED].text, "connection refused"));
    assert_in_range(world.nodes[1].notes[NOTE_DIAL_FAILED], 3, 8);
    assert_string_equal(world.nodes[1].last[NOTE_DIAL_FAILED].where, "10.0.0.1:7000");
    world_start(&world, 0);
    run(45 * SECOND_NS);
    assert_int_equal(neighbours(1), 1);
}

/* Returns true if node 0 has lost its connection to node i but still counts node i as live. */
static bool is_lost(uint32_t i)
{
    struct node_member member;
    for (uint32_t k = 1; k < node_members(world.nodes[0].node); k++) {
        node_member(world.nodes[0].node, world_now_ns(&world), k, &member);
        if (memcmp(member.id, world.nodes[i].options.identity->id, ID_BYTES) == 0)
            return member.live && member.is_lost;
    }
    return false;
}

static void a_killed_neighbour_is_shown_as_lost_until_it_returns(void **state)
{
    (void)state;
    start_usual_swarm(4);
    run(8130 * MS_NS);
    assert_false(is_lost(2));
    world_kill(&world, 2, false);
    run(SECOND_NS);
    assert_true(is_lost(2));
    assert_false(is_lost(1));
    world_start(&world, 2);
    run(10 * SECOND_NS);
    assert_false(is_lost(2));
}

static void the_others_agree_on_a_killed_nodes_rumors(void **state)
{
    (void)state;
    start_usual_swarm(4);
    run(8130 * MS_NS);
    world_kill(&world, 2, false);
    run(5 * SECOND_NS);
    must_agree(5 * SECOND_NS);
    assert_true(stats_of(0).version > rumors_published());
}

static void a_silent_member_dies_and_revives_when_it_returns(void **state)
{
    (void)state;
    start_usual_swarm(3);
    run(5 * SECOND_NS);
    assert_int_equal(stats_of(0).members_live, 3);
    cut(0, 2);
    cut(1, 2);
    run(30 * SECOND_NS);
    assert_int_equal(stats_of(0).members_live, 2);
    assert_int_equal(neighbours(0), 1);
    assert_int_equal(world.nodes[0].notes[NOTE_MEMBER_DEAD], 1);
    assert_int_equal(world.nodes[2].notes[NOTE_MEMBER_DEAD], 2);
    heal_cut(0, 2);
    heal_cut(1, 2);
    run(60 * SECOND_NS);
    assert_int_equal(stats_of(0).members_live, 3);
    assert_true(meshed());
    must_agree(5 * SECOND_NS);
}

static void one_cut_link_does_not_make_a_member_dead(void **state)
{
    (void)state;
    start_usual_swarm(3);
    run(5 * SECOND_NS);
    cut(0, 2);
    run(60 * SECOND_NS);
    assert_int_equal(neighbours(0), 1);
    assert_int_equal(stats_of(0).members_live, 3);
    assert_int_equal(world.nodes[0].notes[NOTE_MEMBER_DEAD], 0);
    must_agree(5 * SECOND_NS);
}

static void a_killed_node_restarts_with_a_new_incarnation(void **state)
{
    (void)state;
    start_usual_swarm(3);
    run(5 * SECOND_NS);
    world_kill(&world, 2, false);
    run(2 * SECOND_NS);
    world_start(&world, 2);
    run(10 * SECOND_NS);
    assert_true(meshed());
    must_agree(5 * SECOND_NS);
    assert_int_equal(stats_of(0).origins, 4);
}

/* Runs until node i has `count` neighbours. Returns the time at which it has. */
static uint64_t wait_for_neighbours(uint32_t i, uint32_t count, uint64_t within_ns)
{
    const uint64_t end_ns = world_now_ns(&world) + within_ns;
    while (neighbours(i) != count) {
        assert_true(world_now_ns(&world) < end_ns);
        run(10 * MS_NS);
    }
    return world_now_ns(&world);
}

static void a_silent_death_is_noticed_in_time(void **state)
{
    (void)state;
    const uint64_t silence_ns = usual_options().limits.silence_ns;
    start_usual_swarm(3);
    run(10 * SECOND_NS);
    world_kill(&world, 2, true);
    const uint64_t died_ns = world_now_ns(&world);
    for (uint32_t i = 0; i < 2; i++)
        assert_in_range(wait_for_neighbours(i, 1, 10 * SECOND_NS) - died_ns, silence_ns - SECOND_NS,
                        silence_ns + SECOND_NS / 2);
    must_agree(3 * SECOND_NS);
}

/* Pauses node 2. Returns true if node 0 lost a neighbour meanwhile. */
static bool is_given_up_when_paused(uint64_t pause_ns)
{
    const uint32_t lost = world.nodes[0].notes[NOTE_NEIGHBOUR_LOST];
    world_pause(&world, 2, world_now_ns(&world) + pause_ns);
    run(pause_ns + SECOND_NS);
    const bool given_up = world.nodes[0].notes[NOTE_NEIGHBOUR_LOST] > lost;
    run(30 * SECOND_NS);
    assert_true(meshed());
    return given_up;
}

static void a_slow_node_gets_a_longer_but_bounded_timeout(void **state)
{
    (void)state;
    start_usual_swarm(3);
    run(10 * SECOND_NS);
    assert_true(is_given_up_when_paused(5 * SECOND_NS));
    /* The timeout for node 2 is now six seconds. */
    assert_false(is_given_up_when_paused(5 * SECOND_NS));
    for (int i = 0; i < 4; i++)
        assert_true(is_given_up_when_paused(NODE_PATIENCE_MAX_NS + SECOND_NS));
    assert_false(is_given_up_when_paused(NODE_PATIENCE_MAX_NS - SECOND_NS));
    world_kill(&world, 2, true);
    const uint64_t died_ns = world_now_ns(&world);
    assert_true(wait_for_neighbours(0, 1, 20 * SECOND_NS) - died_ns <=
                NODE_PATIENCE_MAX_NS + SECOND_NS / 2);
    must_agree(3 * SECOND_NS);
}

/* Node 0 doubles the timeout only of a member that returns with the same incarnation. */
static void a_new_incarnation_gets_no_longer_timeout(void **state)
{
    (void)state;
    start_usual_swarm(3);
    run(10 * SECOND_NS);
    for (int incarnation = 0; incarnation < 3; incarnation++) {
        world_kill(&world, 2, true);
        const uint64_t died_ns = world_now_ns(&world);
        assert_true(wait_for_neighbours(0, 1, 20 * SECOND_NS) - died_ns < 4 * SECOND_NS);
        world_start(&world, 2);
        run(20 * SECOND_NS);
        assert_true(meshed());
    }
}

/* Nodes 0 to 2 have longer timeouts than the paused node 3. */
static void a_paused_node_gives_up_no_neighbour(void **state)
{
    (void)state;
    struct node_options options = usual_options();
    options.limits.silence_ns = 60 * SECOND_NS;
    start_swarm(3, &options);
    options.limits.silence_ns = 3 * SECOND_NS;
    world_introduce(&world, add(&options), 0);
    world_start(&world, 3);
    run(20 * SECOND_NS);
    assert_true(meshed());
    while (node_wake_ns(world.nodes[3].node) > world_now_ns(&world) + MS_NS)
        run(MS_NS); /* node 3's timers must be due before it reads the messages of other nodes */
    world_pause(&world, 3, world_now_ns(&world) + 20 * SECOND_NS);
    run(30 * SECOND_NS);
    assert_int_equal(world.nodes[3].notes[NOTE_NEIGHBOUR_LOST], 0);
    assert_int_equal(world.nodes[3].notes[NOTE_MEMBER_DEAD], 0);
    assert_true(meshed());
    world_kill(&world, 0, true); /* node 3 detects this after its configured 3 s */
    run(4 * SECOND_NS);
    assert_int_equal(neighbours(3), 2);
    must_agree(5 * SECOND_NS);
}

static void shares_follow_throughput_and_sum_to_one(void **state)
{
    (void)state;
    struct node_options options = usual_options();
    for (uint32_t i = 0; i < 4; i++) {
        options.trains = i < 3;
        (void)add(&options);
        world_introduce(&world, i, 0);
        world.nodes[i].step_samples = 16u << i;
    }
    start_all();
    run(20 * SECOND_NS);
    double share[3];
    for (uint32_t i = 0; i < 3; i++)
        share[i] = stats_of(i).share;
    assert_near(share[0] + share[1] + share[2], 1, 0.02);
    assert_near(share[1] / share[0], 2, 0.1);
    assert_near(share[2] / share[0], 4, 0.2);
    must_agree(3 * SECOND_NS);
    assert_true(stats_of(3).rumors_received > 0);
}

static void a_node_that_stops_learning_leaves_its_share_to_the_others(void **state)
{
    (void)state;
    start_usual_swarm(2);
    run(10 * SECOND_NS);
    assert_near(stats_of(0).share, 0.5, 0.05);
    world.nodes[1].ended = true;
    run(400 * SECOND_NS);
    assert_near(stats_of(0).share, 1, 0.001);
}

static void a_joiner_requests_and_receives_rumors(void **state)
{
    (void)state;
    start_usual_swarm(1);
    run(20 * SECOND_NS);
    const struct node_options options = usual_options();
    for (uint32_t i = 1; i < 8; i++) {
        (void)add(&options);
        world_introduce(&world, i, 0);
        world_start(&world, i);
    }
    run(2500 * MS_NS); /* long enough to receive two versions, at one a second */
    for (uint32_t i = 1; i < 8; i++)
        assert_true(world.nodes[i].training);
}

/* The second newcomer meets only the first one, and no version shows it rumors that it lacks. */
static void a_joiner_does_not_take_a_newcomer_for_the_swarm(void **state)
{
    (void)state;
    start_usual_swarm(2);
    run(30 * SECOND_NS);
    const uint64_t known = stats_of(0).version;
    const struct node_options options = usual_options();
    (void)add(&options);
    (void)add(&options);
    world_introduce(&world, 2, 0);
    world_introduce(&world, 2, 3);
    world_introduce(&world, 3, 2);
    for (uint32_t i = 0; i < 2; i++) {
        cut(i, 3);
        limit_up(i, 14000); /* catching up then takes some seconds */
    }
    world_start(&world, 2);
    world_start(&world, 3);
    for (uint32_t i = 2; i < 4; i++) {
        while (!world.nodes[i].training)
            run(10 * MS_NS);
        assert_true(stats_of(i).version + 2 >= known); /* messages in transit may be missing */
    }
}

static void a_joiner_that_loses_all_neighbours_waits_a_minute_before_training(void **state)
{
    (void)state;
    start_usual_swarm(1);
    run(30 * SECOND_NS);
    const struct node_options options = usual_options();
    (void)add(&options);
    world_introduce(&world, 1, 0);
    limit_up(0, 1000);
    world_start(&world, 1);
    while (neighbours(1) == 0)
        run(10 * MS_NS);
    wire_reset(&world.wire, 0, 1); /* loses the bytes in transit */
    world_kill(&world, 0, false);
    run(50 * SECOND_NS);
    assert_false(world.nodes[1].training);
    run(15 * SECOND_NS);
    assert_true(world.nodes[1].training);
}

static void one_that_all_refuse_does_not_say_that_no_peer_has_answered(void **state)
{
    (void)state;
    start_usual_swarm(1);
    struct node_options options = usual_options();
    options.model = "another model";
    (void)add(&options);
    world_introduce(&world, 1, 0);
    world_start(&world, 1);
    run(12 * SECOND_NS);
    assert_true(world.nodes[1].training);
    assert_string_equal(world.nodes[1].last[NOTE_JOINED].text,
                        "peers have answered, but none accepts this node; this node trains alone "
                        "and keeps dialling");
    assert_int_equal(world.nodes[0].notes[NOTE_REFUSED], 1);
}

static void a_node_with_another_swarm_key_warns_at_once(void **state)
{
    (void)state;
    static const uint8_t other[KEY_BYTES] = {1};
    start_usual_swarm(1);
    struct node_options options = usual_options();
    options.swarm_key = other;
    (void)add(&options);
    world_introduce(&world, 1, 0);
    world_start(&world, 1);
    run(SECOND_NS / 4);
    const struct note *first = &world.nodes[1].last[NOTE_DIAL_FAILED];
    assert_int_equal(first->level, LEVEL_WARNING);
    assert_non_null(strstr(first->text, "cannot become a neighbour: it closed"));
    assert_non_null(strstr(first->text, "another swarm key (copy the newest)"));
    assert_non_null(strstr(first->text, "(try 1)"));
    run(60 * SECOND_NS);
    assert_non_null(strstr(world.nodes[1].last[NOTE_JOINED].text, "compare this node's swarm key"));
    assert_int_equal(world.nodes[0].notes[NOTE_REFUSED], 1);
}

/* Node 0 has not joined either: it waits for node 2, which never starts. */
static void a_joiner_whose_only_member_leaves_trains_alone_after_ten_seconds(void **state)
{
    (void)state;
    const struct node_options options = usual_options();
    for (uint32_t i = 0; i < 3; i++)
        (void)add(&options);
    world_introduce(&world, 0, 2);
    world_introduce(&world, 1, 0);
    world_start(&world, 0);
    world_start(&world, 1);
    run(3 * SECOND_NS);
    assert_int_equal(neighbours(1), 1);
    world_leave(&world, 0);
    while (neighbours(1) > 0)
        run(10 * MS_NS);
    run(9 * SECOND_NS);
    assert_false(world.nodes[1].training);
    run(2 * SECOND_NS);
    assert_true(world.nodes[1].training);
}

/* Node 1 still dials node 0, which may return, but needs no person for that. */
static void no_warning_says_that_a_node_which_left_does_not_answer(void **state)
{
    (void)state;
    start_usual_swarm(2);
    run(5 * SECOND_NS);
    assert_int_equal(neighbours(1), 1);
    world_leave(&world, 0);
    run(60 * SECOND_NS);
    assert_true(world.nodes[1].notes[NOTE_DIAL_FAILED] > 1);
    assert_int_equal(world.nodes[1].last[NOTE_DIAL_FAILED].level, LEVEL_DEBUG);
}

static uint64_t trace_of(uint64_t seed)
{
    world_free(&world);
    begin_world(seed);
    start_usual_swarm(4);
    run(5 * SECOND_NS);
    wire_reset(&world.wire, 0, 3);
    run(5 * SECOND_NS);
    return world.trace;
}

static void the_same_seed_gives_the_same_trace(void **state)
{
    (void)state;
    const uint64_t trace = trace_of(3);
    assert_int_equal(trace_of(3), trace);
    assert_int_not_equal(trace_of(4), trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(two_nodes_meet_and_exchange_rumors),
        STORY(one_address_is_enough_to_meet_all),
        STORY(nodes_that_call_each_other_at_once_keep_one_connection),
        STORY(a_node_that_calls_itself_notices_and_stops),
        STORY(two_nodes_with_one_identity_are_both_notified),
        STORY(a_third_node_keeps_the_later_of_two_with_one_identity),
        STORY(a_failed_call_is_retried_with_growing_delays),
        STORY(a_killed_neighbour_is_shown_as_lost_until_it_returns),
        STORY(the_others_agree_on_a_killed_nodes_rumors),
        STORY(a_silent_member_dies_and_revives_when_it_returns),
        STORY(one_cut_link_does_not_make_a_member_dead),
        STORY(a_killed_node_restarts_with_a_new_incarnation),
        STORY(a_silent_death_is_noticed_in_time),
        STORY(a_slow_node_gets_a_longer_but_bounded_timeout),
        STORY(a_new_incarnation_gets_no_longer_timeout),
        STORY(a_paused_node_gives_up_no_neighbour),
        STORY(shares_follow_throughput_and_sum_to_one),
        STORY(a_node_that_stops_learning_leaves_its_share_to_the_others),
        STORY(a_joiner_requests_and_receives_rumors),
        STORY(a_joiner_does_not_take_a_newcomer_for_the_swarm),
        STORY(a_joiner_that_loses_all_neighbours_waits_a_minute_before_training),
        STORY(one_that_all_refuse_does_not_say_that_no_peer_has_answered),
        STORY(a_node_with_another_swarm_key_warns_at_once),
        STORY(a_joiner_whose_only_member_leaves_trains_alone_after_ten_seconds),
        STORY(no_warning_says_that_a_node_which_left_does_not_answer),
        STORY(the_same_seed_gives_the_same_trace),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
