/* How a swarm finishes training if members finish at different times, die, join late or never
 * finish. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "frame/protocol.h"
#include "node/settle.h"
#include "support/sim/fetch_story.h"

static enum finish_state state_of(uint32_t i)
{
    return node_finish_state(world.nodes[i].node);
}

static bool is_done(uint32_t i)
{
    return state_of(i) == FINISH_DONE;
}

static uint64_t digest_of(uint32_t i)
{
    return node_digest(world.nodes[i].node);
}

static enum finish_wait wait_for(uint32_t i, uint32_t of)
{
    const struct node *node = world.nodes[i].node;
    for (uint32_t at = 0; at < node_members(node); at++) {
        struct node_member member;
        node_member(node, world_now_ns(&world), at, &member);
        if (memcmp(member.id, world.nodes[of].options.identity->id, ID_BYTES) == 0)
            return node_finish_wait(node, at);
    }
    return FINISH_HAS;
}

static void finish_all(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        world_finish(&world, i);
}

static void assert_all_done(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        assert_true(is_done(i));
        assert_true(digest_of(i) == digest_of(0));
        assert_true(same_base(0, i));
    }
}

static double mean_of_base(uint32_t i)
{
    int32_t units[PARAMETERS];
    double sum = 0;
    sim_learner_read_units(&world.nodes[i].sim_learner, units);
    for (uint32_t c = 0; c < PARAMETERS; c++)
        sum += (double)QUANTUM * units[c];
    return sum / PARAMETERS;
}

/* Moves node i's weights by `by` on average. */
static void move_weights(uint32_t i, float by)
{
    float weights[PARAMETERS];
    weights_of(i, weights);
    for (uint32_t c = 0; c < PARAMETERS; c++)
        weights[c] += by * (0.5F + (float)c / PARAMETERS);
    sim_learner_write_weights(&world.nodes[i].sim_learner, weights);
}

/* A gain above 1 would multiply progress that no node corrects any more. */
static void progress_just_before_the_end_counts_as_its_average(void **state)
{
    struct node_options options = usual_options();
    (void)state;
    options.interval_ns = 0; /* interval and gain are automatic */
    options.gain = 0;
    start_swarm(4, &options);
    run(10 * SECOND_NS);
    assert_true(stats_of(0).gain > 1.3);
    const double before = mean_of_base(0);
    for (uint32_t i = 0; i < 4; i++)
        move_weights(i, 1);
    finish_all(4);
    until(is_done, 0, 60 * SECOND_NS);
    assert_true(fabs(mean_of_base(0) - before - 1) < 0.05);
}

/* A publication carries at most four of 600 entries, so the nodes need many publications. Both
 * nodes learn the same, which counts once (overlap.h). */
static void small_publications_carry_all_progress_in_the_end(void **state)
{
    const struct node_options options = usual_options();
    (void)state;
    density_max = 4;
    start_swarm(2, &options);
    run(5 * SECOND_NS);
    const double before = mean_of_base(0);
    for (uint32_t i = 0; i < 2; i++)
        move_weights(i, 1);
    finish_all(2);
    until(is_done, 0, 300 * SECOND_NS);
    assert_true(mean_of_base(0) - before > 0.4);
    assert_all_done(2);
}

static void nodes_that_finish_at_different_times_end_with_one_base(void **state)
{
    (void)state;
    start_usual_swarm(4);
    run(10 * SECOND_NS);
    for (uint32_t i = 0; i < 4; i++) {
        const uint64_t published = stats_of(i).rumors_published;
        world_finish(&world, i);
        run(8 * SECOND_NS);
        assert_true(stats_of(i).rumors_published > published);
        assert_int_equal(state_of(i), i < 3 ? FINISH_WAITING : FINISH_DONE);
        assert_int_equal(wait_for(0, 3), i < 3 ? FINISH_TRAINS : FINISH_HAS);
        assert_int_equal(wait_for(0, 1), i == 0 ? FINISH_TRAINS : wait_for(0, 1));
    }
    assert_all_done(4);
    const uint64_t digest = digest_of(0);
    run(60 * SECOND_NS);
    assert_true(digest_of(0) == digest);
    assert_all_done(4);
}

static void finished_nodes_leave_with_that_base(void **state)
{
    (void)state;
    start_usual_swarm(3);
    run(10 * SECOND_NS);
    finish_all(3);
    run(20 * SECOND_NS);
    assert_all_done(3);
    for (uint32_t i = 0; i < 3; i++)
        world_leave(&world, i);
    run(10 * SECOND_NS);
    for (uint32_t i = 0; i < 3; i++) {
        assert_true(is_finished(i));
        assert_int_equal(world.nodes[i].last[NOTE_LEFT].level, LEVEL_INFO);
        assert_true(same_base(0, i));
    }
}

static void finishing_twice_is_finishing_once(void **state)
{
    (void)state;
    start_usual_swarm(2);
    run(5 * SECOND_NS);
    finish_all(2);
    run(SECOND_NS);
    finish_all(2);
    run(15 * SECOND_NS);
    assert_all_done(2);
    const uint64_t published = rumors_published();
    finish_all(2);
    run(5 * SECOND_NS);
    assert_all_done(2);
    assert_int_equal(rumors_published(), published);
}

static void a_node_alone_finishes_soon(void **state)
{
    (void)state;
    start_usual_swarm(1);
    run(5 * SECOND_NS);
    world_finish(&world, 0);
    run(3 * SECOND_NS);
    assert_true(is_done(0));
}

static void a_member_that_dies_is_not_waited_for(void **state)
{
    (void)state;
    start_usual_swarm(4);
    run(10 * SECOND_NS);
    finish_all(3);
    run(5 * SECOND_NS);
    world_kill(&world, 3, true);
    run(5 * SECOND_NS);
    assert_false(is_done(0)); /* node 0 still waits, because the dead member may return */
    run(30 * SECOND_NS);
    assert_all_done(3);
}

static void a_finished_member_that_dies_is_not_waited_for(void **state)
{
    (void)state;
    start_usual_swarm(3);
    run(10 * SECOND_NS);
    world_finish(&world, 2);
    run(5 * SECOND_NS);
    world_kill(&world, 2, true);
    finish_all(2);
    run(40 * SECOND_NS);
    assert_all_done(2);
}

static void a_member_that_never_finishes_is_named_until_it_leaves(void **state)
{
    (void)state;
    start_usual_swarm(3);
    run(10 * SECOND_NS);
    finish_all(2);
    run(60 * SECOND_NS);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(state_of(i), FINISH_WAITING);
        assert_int_equal(wait_for(i, 2), FINISH_TRAINS);
    }
    world_leave(&world, 2);
    run(15 * SECOND_NS);
    assert_true(is_finished(2));
    assert_int_equal(world.nodes[2].last[NOTE_LEFT].level, LEVEL_INFO);
    assert_all_done(2);
    assert_true(same_base(0, 2));
}

/* Node 1 leaves while another member trains and a third one has finished. The finished member's
 * base changes with each rumor, so node 1 must not wait until both bases are equal. */
static void a_leaver_does_not_wait_for_a_member_that_has_finished(void **state)
{
    (void)state;
    start_usual_swarm(3);
    run(10 * SECOND_NS);
    world_finish(&world, 0);
    run(5 * SECOND_NS);
    const uint64_t left_ns = world_now_ns(&world);
    world_leave(&world, 1);
    run(25 * SECOND_NS);
    assert_true(is_finished(1));
    assert_int_equal(world.nodes[1].last[NOTE_LEFT].level, LEVEL_INFO);
    assert_true(world.nodes[1].finished_ns - left_ns < 5 * SECOND_NS);
}

static void a_relay_is_not_waited_for(void **state)
{
    (void)state;
    struct node_options options = usual_options();
    add_swarm(2, &options);
    options.trains = false;
    const uint32_t relay = add(&options);
    world_introduce(&world, relay, 0);
    start_all();
    run(10 * SECOND_NS);
    finish_all(2);
    run(15 * SECOND_NS);
    assert_all_done(2);
    assert_true(same_base(0, relay));
    world_finish(&world, relay);
    run(5 * SECOND_NS);
    assert_true(is_done(relay));
}

static void a_member_that_joins_while_others_wait_is_waited_for(void **state)
{
    (void)state;
    struct node_options options = usual_options();
    start_usual_swarm(3);
    run(10 * SECOND_NS);
    finish_all(2);
    run(5 * SECOND_NS);
    const uint32_t late = join(&options, 3);
    until(is_training, late, 20 * SECOND_NS);
    run(2 * SECOND_NS);
    world_finish(&world, 2);
    run(15 * SECOND_NS);
    assert_int_equal(state_of(0), FINISH_WAITING);
    assert_int_equal(wait_for(0, late), FINISH_TRAINS);
    world_finish(&world, late);
    run(15 * SECOND_NS);
    assert_all_done(late + 1);
}

static void start_busy(uint32_t count)
{
    const struct node_options options = busy_options();
    start_swarm(count, &options);
    run(15 * SECOND_NS);
}

static void a_member_that_still_takes_the_base_is_waited_for(void **state)
{
    (void)state;
    start_busy(2);
    const struct node_options options = busy_options();
    const uint32_t late = join(&options, 2);
    until_blocks(late, 5, 20 * SECOND_NS);
    cut(0, late);
    cut(1, late);
    finish_all(2);
    run(2 * SECOND_NS);
    for (uint32_t i = 0; i < 2; i++)
        assert_int_equal(wait_for(i, late), FINISH_JOINS);
    heal_cut(0, late);
    heal_cut(1, late);
    until(is_training, late, 60 * SECOND_NS);
    run(5 * SECOND_NS);
    assert_int_equal(wait_for(0, late), FINISH_TRAINS);
    world_finish(&world, late);
    run(20 * SECOND_NS);
    assert_all_done(3);
    assert_int_equal(world.nodes[late].last[NOTE_FINISHED].level, LEVEL_INFO);
}

static void a_member_that_joins_after_the_end_changes_no_finished_base(void **state)
{
    (void)state;
    struct node_options options = usual_options();
    start_usual_swarm(3);
    run(10 * SECOND_NS);
    finish_all(3);
    run(20 * SECOND_NS);
    assert_all_done(3);
    const uint64_t digest = digest_of(0);
    const uint32_t late = join(&options, 3);
    until(is_training, late, 20 * SECOND_NS);
    assert_true(bases_of(late) > 0 || known_of(late, 0) > 0);
    run(20 * SECOND_NS);
    assert_true(stats_of(late).rumors_published > 0);
    assert_false(same_base(0, late));
    assert_all_done(3);
    assert_true(digest_of(0) == digest);
    assert_true(stats_of(0).lag_ns < SECOND_NS);
    for (uint32_t i = 0; i < 3; i++)
        world_leave(&world, i);
    run(20 * SECOND_NS);
    for (uint32_t i = 0; i < 3; i++) {
        assert_true(is_finished(i));
        assert_int_equal(world.nodes[i].last[NOTE_FINISHED].level, LEVEL_INFO);
        assert_true(same_base(0, i));
    }
    world_finish(&world, late);
    run(10 * SECOND_NS);
    assert_true(is_done(late));
    assert_int_equal(world.nodes[late].last[NOTE_FINISHED].level, LEVEL_WARNING);
}

static void a_member_that_left_during_the_run_is_no_reason_to_warn(void **state)
{
    (void)state;
    start_usual_swarm(3);
    run(10 * SECOND_NS);
    world_leave(&world, 2);
    run(20 * SECOND_NS);
    assert_true(is_finished(2));
    finish_all(2);
    run(15 * SECOND_NS);
    assert_all_done(2);
    assert_false(same_base(0, 2));
    assert_int_equal(world.nodes[0].last[NOTE_FINISHED].level, LEVEL_INFO);
}

static void a_member_that_holds_another_base_is_waited_for(void **state)
{
    (void)state;
    start_usual_swarm(3);
    run(10 * SECOND_NS);
    finish_all(2);
    run(5 * SECOND_NS);
    cut(0, 2);
    cut(1, 2);
    world_finish(&world, 2); /* node 2's last rumors reach no other node */
    run(6 * SECOND_NS);
    assert_int_equal(state_of(2), FINISH_WAITING);
    assert_int_equal(wait_for(2, 0), FINISH_DIFFERS);
    heal_cut(0, 2);
    heal_cut(1, 2);
    run(30 * SECOND_NS);
    assert_all_done(3);
}

static void members_of_two_protocol_versions_finish_together(void **state)
{
    (void)state;
    struct node_options options = usual_options();
    add_swarm(2, &options);
    options.limits.protocol_max = PROTOCOL_OLDEST;
    for (uint32_t i = 0; i < 2; i++) {
        const uint32_t at = add(&options);
        world_introduce(&world, at, 0);
    }
    start_all();
    run(10 * SECOND_NS);
    for (uint32_t i = 0; i < 4; i++) {
        world_finish(&world, i);
        run(2 * SECOND_NS);
    }
    run(10 * SECOND_NS);
    assert_all_done(4);
}

static void connections_that_break_change_nothing(void **state)
{
    (void)state;
    start_usual_swarm(4);
    run(10 * SECOND_NS);
    world_finish(&world, 0);
    cut(0, 1);
    cut(0, 2);
    run(12 * SECOND_NS);
    for (uint32_t i = 1; i < 4; i++)
        world_finish(&world, i);
    run(3 * SECOND_NS);
    wire_reset(&world.wire, 0, 3);
    run(5 * SECOND_NS);
    heal_cut(0, 1);
    heal_cut(0, 2);
    run(20 * SECOND_NS);
    assert_all_done(4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(progress_just_before_the_end_counts_as_its_average),
        STORY(small_publications_carry_all_progress_in_the_end),
        STORY(nodes_that_finish_at_different_times_end_with_one_base),
        STORY(finished_nodes_leave_with_that_base),
        STORY(finishing_twice_is_finishing_once),
        STORY(a_node_alone_finishes_soon),
        STORY(a_member_that_dies_is_not_waited_for),
        STORY(a_finished_member_that_dies_is_not_waited_for),
        STORY(a_member_that_never_finishes_is_named_until_it_leaves),
        STORY(a_leaver_does_not_wait_for_a_member_that_has_finished),
        STORY(a_relay_is_not_waited_for),
        STORY(a_member_that_joins_while_others_wait_is_waited_for),
        STORY(a_member_that_still_takes_the_base_is_waited_for),
        STORY(a_member_that_joins_after_the_end_changes_no_finished_base),
        STORY(a_member_that_left_during_the_run_is_no_reason_to_warn),
        STORY(a_member_that_holds_another_base_is_waited_for),
        STORY(members_of_two_protocol_versions_finish_together),
        STORY(connections_that_break_change_nothing),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
