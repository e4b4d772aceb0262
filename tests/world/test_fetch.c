/* Who lacks more than rumors will bring takes over the swarm's base, block by block, whatever
 * happens to those who give it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/sim/fetch_story.h"

/* The swarm has told so much that no log holds it. */
#define LONG_NS (40 * SECOND_NS)

static void start_busy_swarm(uint32_t n)
{
    const struct node_options options = busy_options();
    start_swarm(n, &options);
    run(LONG_NS);
}

/* Donors who train, and give so little at once that much can happen meanwhile. */
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

/* Joining. */

static void who_joins_takes_over_the_base_and_has_nothing_to_tell(void **state)
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
    assert_in_range(untold, 1, RANDOM_WALK_ENTRIES); /* its first step, which has just begun */
    must_agree(5 * SECOND_NS);
    assert_int_equal(stats_of(joiner).version, rumors_published());
}

/* Though all that was ever told is still to be had: it is in the base. */
static void who_takes_over_a_base_does_not_hear_what_is_in_it(void **state)
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

static void who_only_passes_on_takes_over_the_base_too(void **state)
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

static void nobody_stops_training_for_who_joins(void **state)
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

/* As soon as it takes over a base, what others say comes from the donor and goes to nobody: or else
 * all of them, a moment later pruned, would fill a thin link. */
static void who_takes_over_a_base_is_not_told_everything_by_everybody(void **state)
{
    (void)state;
    start_slow_swarm(6, 2000);
    const uint64_t swarm_before = swarm_duplicates(6);
    paths[HERE][HERE].delay_ns = 50 * MILLI_NS;
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

/* From many. */

/* No block is paid for twice but those that were asked of the dead. */
static void must_not_begin_anew(uint32_t joiner, uint32_t dead)
{
    const uint64_t block_bytes = 1 + 3 * SMALL_BLOCK + 5 * VERSION_ENTRY_BYTES;
    assert_int_equal(bases_of(joiner), 1);
    assert_true(stats_of(joiner).block_bytes <= (SMALL_BLOCKS + dead * 8) * block_bytes);
}

static void nothing_that_many_give_at_once_is_thrown_away(void **state)
{
    (void)state;
    start_busy_swarm(4);
    const uint32_t joiner = join_busy_swarm(4);
    until(is_training, joiner, 5 * SECOND_NS);
    must_not_begin_anew(joiner, 0);
    must_agree(5 * SECOND_NS);
}

static void all_who_have_the_base_give_of_it(void **state)
{
    (void)state;
    start_slow_swarm(4, 2000);
    const uint32_t joiner = join_busy_swarm(4);
    until(is_training, joiner, 30 * SECOND_NS);
    for (uint32_t i = 0; i < 4; i++)
        assert_true(stats_of(i).served_bytes > 0);
    must_agree(5 * SECOND_NS);
}

static void who_waits_for_a_slow_donor_does_not_begin_anew(void **state)
{
    (void)state;
    struct node_options options = busy_options();
    options.block_entries = 100;
    options.serve_bytes_per_s = 20; /* a block every fifteen to twenty-five seconds */
    start_swarm(1, &options);
    run(2 * LONG_NS);
    const uint32_t joiner = join(&options, 1);
    until(is_training, joiner, 300 * SECOND_NS);
    assert_int_equal(bases_of(joiner), 1);
    must_agree(5 * SECOND_NS);
}

static void of_many_who_take_from_one_nobody_waits_for_long(void **state)
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
    start_slow_swarm(4, 100); /* five blocks in a turn */
    const uint32_t joiner = join_busy_swarm(4);
    until_blocks(joiner, blocks, 30 * SECOND_NS);
    for (uint32_t i = 1; i <= killed; i++)
        world_kill(&world, i, i % 2);
    until(is_training, joiner, 60 * SECOND_NS);
    must_not_begin_anew(joiner, killed);
    must_agree(15 * SECOND_NS);
}

static void what_is_there_stays_when_a_donor_dies(void **state)
{
    (void)state;
    kill_at(SMALL_BLOCKS * 3 / 10, 1);
    kill_at(SMALL_BLOCKS * 6 / 10, 1);
    kill_at(SMALL_BLOCKS * 9 / 10, 1);
}

static void what_is_there_stays_when_all_donors_but_one_die(void **state)
{
    (void)state;
    kill_at(SMALL_BLOCKS * 3 / 10, 3);
    kill_at(SMALL_BLOCKS * 6 / 10, 3);
    kill_at(SMALL_BLOCKS * 9 / 10, 3);
}

static void a_donor_that_stands_still_holds_up_nobody(void **state)
{
    (void)state;
    start_slow_swarm(3, 1500);
    for (uint32_t i = 0; i < 3; i++) /* or else it would be given up first */
        world.nodes[i].options.limits.silence_ns = 60 * SECOND_NS;
    struct node_options options = busy_options();
    options.limits.silence_ns = 60 * SECOND_NS;
    const uint32_t joiner = join(&options, 3);
    until_blocks(joiner, SMALL_BLOCKS / 10, 30 * SECOND_NS);
    world_pause(&world, 1, world_now_ns(&world) + 100 * SECOND_NS);
    const uint64_t from_ns = world_now_ns(&world);
    until(is_training, joiner, 30 * SECOND_NS);
    assert_true(world_now_ns(&world) - from_ns < 20 * SECOND_NS);
    must_not_begin_anew(joiner, 1);
}

static void two_who_join_at_once_take_nothing_from_each_other_that_is_not_there(void **state)
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

/* Giving. */

static void who_trains_gives_no_more_than_it_may(void **state)
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

static void who_does_not_train_gives_as_fast_as_the_link_carries(void **state)
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

/* Lagging. */

/* What it tells alone, only it knows, and its log still holds. */
static void who_lags_keeps_what_it_told_alone_and_what_it_has_not_told(void **state)
{
    (void)state;
    start_busy_swarm(3);
    cut(0, 2);
    cut(1, 2);
    run(1500 * MILLI_NS);
    const uint64_t incarnation = incarnation_of(2);
    assert_true(known_of(2, 2) >= known_of(0, 2) + 10);
    world_pause(&world, 2, world_now_ns(&world) + 60 * SECOND_NS);
    run(60 * SECOND_NS);
    double before[PARAMETERS], after[PARAMETERS];
    residual_of(2, before);
    world.nodes[2].ended = true; /* it tells once more, and makes no other step */
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

/* Two who have both told what no log holds any more. */
static void meet_again(uint64_t seed)
{
    world_free(&world);
    begin_world(seed);
    paths[HERE][HERE].delay_ns = 400 * MILLI_NS; /* so that both may ask before either hears */
    struct node_options options = busy_options();
    options.partition_s = 1e9;
    start_swarm(2, &options);
    run(3 * SECOND_NS);
    cut(0, 1);
    run(30 * SECOND_NS);
    heal_cut(0, 1);
    const uint64_t end_ns = world_now_ns(&world) + 60 * SECOND_NS;
    while (world_now_ns(&world) < end_ns) {
        run(5 * MILLI_NS);
        assert_false(is_catching_up(0) && is_catching_up(1));
    }
    assert_int_equal(bases_of(0) + bases_of(1), 1);
    must_agree(5 * SECOND_NS);
}

static void of_two_who_want_each_others_base_one_keeps_its_own(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 8; seed++)
        meet_again(seed);
}

/* Leaving. */

static void who_is_told_to_leave_while_it_takes_over_leaves_in_time(void **state)
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

static void those_who_leave_wait_for_who_takes_over(void **state)
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
        STORY(who_joins_takes_over_the_base_and_has_nothing_to_tell),
        STORY(who_takes_over_a_base_does_not_hear_what_is_in_it),
        STORY(who_only_passes_on_takes_over_the_base_too),
        STORY(nobody_stops_training_for_who_joins),
        STORY(who_takes_over_a_base_is_not_told_everything_by_everybody),
        STORY(nothing_that_many_give_at_once_is_thrown_away),
        STORY(all_who_have_the_base_give_of_it),
        STORY(who_waits_for_a_slow_donor_does_not_begin_anew),
        STORY(of_many_who_take_from_one_nobody_waits_for_long),
        STORY(what_is_there_stays_when_a_donor_dies),
        STORY(what_is_there_stays_when_all_donors_but_one_die),
        STORY(a_donor_that_stands_still_holds_up_nobody),
        STORY(two_who_join_at_once_take_nothing_from_each_other_that_is_not_there),
        STORY(who_trains_gives_no_more_than_it_may),
        STORY(who_does_not_train_gives_as_fast_as_the_link_carries),
        STORY(who_lags_keeps_what_it_told_alone_and_what_it_has_not_told),
        STORY(of_two_who_want_each_others_base_one_keeps_its_own),
        STORY(who_is_told_to_leave_while_it_takes_over_leaves_in_time),
        STORY(those_who_leave_wait_for_who_takes_over),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
