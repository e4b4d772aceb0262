/* State transfer: a node that lacks too many rumors takes over the swarm's base, block by block,
 * even when its donors fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/sim/fetch_story.h"

/* time in which a busy swarm publishes more rumors than its logs of 64 KiB can store */
#define LONG_NS (40 * SECOND_NS)

static void start_busy_swarm(uint32_t n)
{
    const struct node_options options = busy_options();
    start_swarm(n, &options);
    run(LONG_NS);
}

/* Starts a swarm whose nodes serve blocks slowly, so that much happens during a state transfer. */
static void start_slow_swarm(uint32_t n, uint64_t serve_bytes_per_s)
{
    struct node_options options = busy_options();
    options.serve_bytes_per_s = serve_bytes_per_s;
    start_swarm(n, &options);
    run(LONG_NS);
}

static uint32_t join_busy_swarm(uint32_t swarm)
{
    const struct node_options options = busy_options();
    return join(&options, swarm);
}

static void a_joiner_takes_over_the_base_and_has_no_residual(void **state)
{
    (void)state;
    struct node_options options = busy_options();
    options.block_entries = 100;
    start_swarm(3, &options);
    run(2 * LONG_NS);
    assert_true(rumors_published() > 3000);
    const uint32_t joiner = join(&options, 3);
    until(is_training, joiner, 5 * SECOND_NS);
    const struct node_stats joined = stats_of(joiner);
    assert_int_equal(bases_of(joiner), 1);
    assert_int_equal(joined.blocks_held, 6);
    assert_true(joined.block_bytes * 10 <= 11 * 4 * PARAMETERS);
    assert_true(joined.rumors_received < 300);
    double residual[PARAMETERS];
    residual_of(joiner, residual);
    int untold = 0;
    for (int c = 0; c < PARAMETERS; c++)
        untold += residual[c] < 0 || residual[c] > 0;
    /* The residual has only entries of the first step, which has just begun. */
    assert_in_range(untold, 1, RANDOM_WALK_ENTRIES);
    must_agree(5 * SECOND_NS);
    assert_int_equal(stats_of(joiner).version, rumors_published());
}

/* All rumors are still in the logs, but the joiner's new base already contains them. */
static void a_joiner_does_not_receive_rumors_of_its_base(void **state)
{
    (void)state;
    struct node_options options = busy_options();
    options.log_bytes = 1 << 22;
    start_swarm(3, &options);
    run(LONG_NS);
    assert_true(rumors_published() > 1500);
    const uint32_t joiner = join(&options, 3);
    until(is_training, joiner, 5 * SECOND_NS);
    const struct node_stats joined = stats_of(joiner);
    assert_int_equal(bases_of(joiner), 1);
    assert_true(joined.rumors_received + joined.duplicates < 300);
    must_agree(5 * SECOND_NS);
}

static void a_relay_also_takes_over_the_base(void **state)
{
    (void)state;
    start_busy_swarm(2);
    struct node_options options = busy_options();
    options.trains = false;
    const uint32_t joiner = join(&options, 2);
    until(is_catching_up, joiner, 5 * SECOND_NS);
    until(has_base, joiner, 5 * SECOND_NS);
    run(3 * SECOND_NS);
    double residual[PARAMETERS];
    residual_of(joiner, residual);
    assert_true(sum_of_sizes(residual) <= 0);
    must_agree(5 * SECOND_NS);
}

static void training_continues_while_a_node_joins(void **state)
{
    (void)state;
    start_busy_swarm(3);
    uint64_t steps[3];
    for (uint32_t i = 0; i < 3; i++)
        steps[i] = stats_of(i).steps;
    const uint64_t from_ns = world_now_ns(&world);
    until(is_training, join_busy_swarm(3), 5 * SECOND_NS);
    const uint64_t made = (world_now_ns(&world) - from_ns) / world.nodes[0].step_ns;
    for (uint32_t i = 0; i < 3; i++)
        assert_in_range(stats_of(i).steps - steps[i], made - 1, made + 1);
    must_agree(5 * SECOND_NS);
}

static uint64_t swarm_duplicates(uint32_t n)
{
    uint64_t duplicates = 0;
    for (uint32_t i = 0; i < n; i++)
        duplicates += stats_of(i).duplicates;
    return duplicates;
}

/* During a state transfer only the donor sends the joiner rumors, and the joiner forwards none.
 * Otherwise all neighbours would fill a slow link with rumors until the joiner prunes them. */
static void a_joiner_receives_rumors_only_from_its_donor(void **state)
{
    (void)state;
    start_slow_swarm(6, 2000);
    const uint64_t swarm_before = swarm_duplicates(6);
    paths[HERE][HERE].delay_ns = 50 * MS_NS;
    const uint32_t joiner = join_busy_swarm(6);
    until(is_catching_up, joiner, 10 * SECOND_NS);
    const struct node_stats before = stats_of(joiner);
    until(is_training, joiner, 60 * SECOND_NS);
    const struct node_stats after = stats_of(joiner);
    const uint64_t heard = after.rumors_received - before.rumors_received;
    assert_true(heard > 50);
    assert_true((after.duplicates - before.duplicates) * 5 < heard);
    assert_true(swarm_duplicates(6) - swarm_before < 6);
    must_agree(5 * SECOND_NS);
}

/* Checks that the joiner received no block twice, except up to eight blocks for each of the `dead`
 * dead donors. */
static void must_not_fetch_twice(uint32_t joiner, uint32_t dead)
{
    const uint64_t block_bytes = 1 + 3 * SMALL_BLOCK + 5 * VERSION_ENTRY_BYTES;
    assert_int_equal(bases_of(joiner), 1);
    assert_true(stats_of(joiner).block_bytes <= (SMALL_BLOCKS + dead * 8) * block_bytes);
}

static void blocks_of_many_donors_are_all_used(void **state)
{
    (void)state;
    start_busy_swarm(4);
    const uint32_t joiner = join_busy_swarm(4);
    until(is_training, joiner, 5 * SECOND_NS);
    must_not_fetch_twice(joiner, 0);
    must_agree(5 * SECOND_NS);
}

static void all_nodes_with_the_base_give_blocks(void **state)
{
    (void)state;
    start_slow_swarm(4, 2000);
    const uint32_t joiner = join_busy_swarm(4);
    until(is_training, joiner, 30 * SECOND_NS);
    for (uint32_t i = 0; i < 4; i++)
        assert_true(stats_of(i).served_bytes > 0);
    must_agree(5 * SECOND_NS);
}

static void waiting_for_a_slow_donor_does_not_restart_the_transfer(void **state)
{
    (void)state;
    struct node_options options = busy_options();
    options.block_entries = 100;
    /* The only donor serves a block every 15 to 25 seconds. */
    options.serve_bytes_per_s = 20;
    start_swarm(1, &options);
    run(2 * LONG_NS);
    const uint32_t joiner = join(&options, 1);
    until(is_training, joiner, 300 * SECOND_NS);
    assert_int_equal(bases_of(joiner), 1);
    must_agree(5 * SECOND_NS);
}

static void one_donor_serves_many_joiners_fairly(void **state)
{
    (void)state;
    start_slow_swarm(1, 60);
    for (uint32_t i = 1; i <= 6; i++)
        (void)join_busy_swarm(1);
    for (uint32_t i = 1; i <= 6; i++)
        until(is_catching_up, i, 10 * SECOND_NS);
    run(8 * SECOND_NS);
    for (uint32_t i = 1; i <= 6; i++)
        assert_true(stats_of(i).blocks_held > 0);
}

static void kill_at(uint32_t blocks, uint32_t killed)
{
    world_free(&world);
    begin_world(blocks);
    start_slow_swarm(4, 100);
    const uint32_t joiner = join_busy_swarm(4);
    until_blocks(joiner, blocks, 30 * SECOND_NS);
    for (uint32_t i = 1; i <= killed; i++)
        world_kill(&world, i, i % 2);
    until(is_training, joiner, 60 * SECOND_NS);
    must_not_fetch_twice(joiner, killed);
    must_agree(15 * SECOND_NS);
}

static void received_blocks_stay_when_a_donor_dies(void **state)
{
    (void)state;
    kill_at(SMALL_BLOCKS * 3 / 10, 1);
    kill_at(SMALL_BLOCKS * 6 / 10, 1);
    kill_at(SMALL_BLOCKS * 9 / 10, 1);
}

static void received_blocks_stay_when_all_donors_except_one_die(void **state)
{
    (void)state;
    kill_at(SMALL_BLOCKS * 3 / 10, 3);
    kill_at(SMALL_BLOCKS * 6 / 10, 3);
    kill_at(SMALL_BLOCKS * 9 / 10, 3);
}

static void a_paused_donor_delays_no_joiner(void **state)
{
    (void)state;
    start_slow_swarm(3, 1500);
    for (uint32_t i = 0; i < 3; i++) /* otherwise the donors would give up the paused node first */
        world.nodes[i].options.limits.silence_ns = 60 * SECOND_NS;
    struct node_options options = busy_options();
    options.limits.silence_ns = 60 * SECOND_NS;
    const uint32_t joiner = join(&options, 3);
    until_blocks(joiner, SMALL_BLOCKS / 10, 30 * SECOND_NS);
    world_pause(&world, 1, world_now_ns(&world) + 100 * SECOND_NS);
    const uint64_t from_ns = world_now_ns(&world);
    until(is_training, joiner, 30 * SECOND_NS);
    assert_true(world_now_ns(&world) - from_ns < 20 * SECOND_NS);
    must_not_fetch_twice(joiner, 1);
}

static void two_joiners_take_no_missing_blocks_from_each_other(void **state)
{
    (void)state;
    start_slow_swarm(2, 2000);
    const uint32_t first = join_busy_swarm(2);
    world_introduce(&world, first, first + 1);
    const uint32_t second = join_busy_swarm(3);
    until(is_training, first, 60 * SECOND_NS);
    until(is_training, second, 60 * SECOND_NS);
    must_agree(10 * SECOND_NS);
    assert_int_equal(stats_of(first).version, rumors_published());
}

static void a_training_donor_respects_its_limit(void **state)
{
    (void)state;
    start_slow_swarm(1, 600);
    const uint32_t joiner = join_busy_swarm(1);
    until(is_catching_up, joiner, 30 * SECOND_NS);
    const uint64_t from_ns = world_now_ns(&world), given = stats_of(0).served_bytes;
    until(is_training, joiner, 60 * SECOND_NS);
    const double took_s = (double)(world_now_ns(&world) - from_ns) * 1e-9;
    const double gave = (double)(stats_of(0).served_bytes - given);
    assert_true(took_s > 3);
    assert_true(gave <= 600 * took_s + 8 * (1 + 4 * SMALL_BLOCK + 2 * VERSION_ENTRY_BYTES));
    assert_true(gave >= 600 * took_s / 2);
    must_agree(5 * SECOND_NS);
}

static void a_relay_gives_as_fast_as_the_link_carries(void **state)
{
    (void)state;
    struct node_options options = busy_options();
    (void)add(&options);
    options.trains = false;
    options.serve_bytes_per_s = 600;
    world_introduce(&world, add(&options), 0);
    start_all();
    run(LONG_NS);
    const uint32_t joiner = add(&options);
    world_introduce(&world, joiner, 1);
    cut(0, joiner);
    world_start(&world, joiner);
    until(is_catching_up, joiner, 5 * SECOND_NS);
    const uint64_t from_ns = world_now_ns(&world);
    until(has_base, joiner, 5 * SECOND_NS);
    assert_true(world_now_ns(&world) - from_ns < SECOND_NS);
}

/* Node 2 keeps its own rumors that no other node has, if they are still in its log. */
static void a_lagging_node_keeps_its_own_rumors_and_residual(void **state)
{
    (void)state;
    start_busy_swarm(3);
    cut(0, 2);
    cut(1, 2);
    run(1500 * MS_NS);
    const uint64_t incarnation = incarnation_of(2);
    assert_true(known_of(2, 2) >= known_of(0, 2) + 10);
    world_pause(&world, 2, world_now_ns(&world) + 60 * SECOND_NS);
    run(60 * SECOND_NS);
    double before[PARAMETERS], after[PARAMETERS];
    residual_of(2, before);
    world.nodes[2].ended = true; /* the learner publishes once more and makes no further step */
    heal_cut(0, 2);
    heal_cut(1, 2);
    until(is_catching_up, 2, 60 * SECOND_NS);
    until(has_base, 2, 10 * SECOND_NS);
    run(5 * SECOND_NS);
    assert_int_equal(bases_of(2), 1);
    assert_true(incarnation_of(2) == incarnation);
    assert_int_equal(known_of(0, 2), known_of(2, 2));
    assert_int_equal(known_of(1, 2), known_of(2, 2));
    residual_of(2, after);
    assert_true(sum_of_sizes(before) > 0 && sum_of_sizes(after) > 0);
    assert_true(sim_learner_account_error(&world.nodes[2].sim_learner) <= 0);
    assert_int_equal(bases_of(0) + bases_of(1), 0);
    must_agree(5 * SECOND_NS);
    assert_int_equal(stats_of(2).version, rumors_published());
}

/* Separates nodes 0 and 1 until both have published more than their logs can store. Then they meet
 * again. */
static void meet_again(uint64_t seed)
{
    world_free(&world);
    begin_world(seed);
    /* Delays messages, so that both nodes can send a request before they receive one. */
    paths[HERE][HERE].delay_ns = 400 * MS_NS;
    struct node_options options = busy_options();
    options.partition_s = 1e9;
    start_swarm(2, &options);
    run(3 * SECOND_NS);
    cut(0, 1);
    run(30 * SECOND_NS);
    heal_cut(0, 1);
    const uint64_t end_ns = world_now_ns(&world) + 60 * SECOND_NS;
    while (world_now_ns(&world) < end_ns) {
        run(5 * MS_NS);
        assert_false(is_catching_up(0) && is_catching_up(1));
    }
    assert_int_equal(bases_of(0) + bases_of(1), 1);
    must_agree(5 * SECOND_NS);
}

static void one_node_keeps_its_base_when_two_request_each_others(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 8; seed++)
        meet_again(seed);
}

static void a_node_leaves_in_time_during_a_transfer(void **state)
{
    (void)state;
    start_slow_swarm(2, 1000);
    const uint32_t joiner = join_busy_swarm(2);
    until_blocks(joiner, SMALL_BLOCKS / 3, 30 * SECOND_NS);
    world_leave(&world, joiner);
    until(is_finished, joiner, 25 * SECOND_NS);
    assert_int_equal(world.nodes[joiner].last[NOTE_LEFT].level, LEVEL_INFO);
    run(2 * SECOND_NS);
    must_agree(5 * SECOND_NS);
}

static void leaving_donors_wait_for_the_joiner(void **state)
{
    (void)state;
    start_slow_swarm(2, 1000);
    const uint32_t joiner = join_busy_swarm(2);
    until_blocks(joiner, SMALL_BLOCKS / 3, 30 * SECOND_NS);
    for (uint32_t i = 0; i < 3; i++)
        world_leave(&world, i);
    run(15 * SECOND_NS);
    for (uint32_t i = 0; i < 3; i++) {
        assert_true(world.nodes[i].finished);
        assert_int_equal(world.nodes[i].last[NOTE_LEFT].level, LEVEL_INFO);
        assert_true(same_base(0, i));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(a_joiner_takes_over_the_base_and_has_no_residual),
        STORY(a_joiner_does_not_receive_rumors_of_its_base),
        STORY(a_relay_also_takes_over_the_base),
        STORY(training_continues_while_a_node_joins),
        STORY(a_joiner_receives_rumors_only_from_its_donor),
        STORY(blocks_of_many_donors_are_all_used),
        STORY(all_nodes_with_the_base_give_blocks),
        STORY(waiting_for_a_slow_donor_does_not_restart_the_transfer),
        STORY(one_donor_serves_many_joiners_fairly),
        STORY(received_blocks_stay_when_a_donor_dies),
        STORY(received_blocks_stay_when_all_donors_except_one_die),
        STORY(a_paused_donor_delays_no_joiner),
        STORY(two_joiners_take_no_missing_blocks_from_each_other),
        STORY(a_training_donor_respects_its_limit),
        STORY(a_relay_gives_as_fast_as_the_link_carries),
        STORY(a_lagging_node_keeps_its_own_rumors_and_residual),
        STORY(one_node_keeps_its_base_when_two_request_each_others),
        STORY(a_node_leaves_in_time_during_a_transfer),
        STORY(leaving_donors_wait_for_the_joiner),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
