/* A node that was killed goes on from its last checkpoint, and takes what it told since for its
 * own. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "node/broadcast/history.h"
#include "support/sim/fetch_story.h"

static struct node_options saving_options(void)
{
    struct node_options options = usual_options();
    options.block_entries = 100;
    options.save_ns = 3 * SECOND_NS;
    return options;
}

/* Node 2 of three saves now and then; it is killed at once, and starts again. */
static void start_saving_swarm(void)
{
    const struct node_options options = saving_options();
    start_swarm(3, &options);
    run(20 * SECOND_NS);
}

/* How many rumors a checkpoint is the sum of, of everybody or of one node. */
static uint64_t rumors_in(const struct saved *saved, const struct identity *of)
{
    uint64_t rumors = 0;
    for (size_t at = 0; at < saved->history_bytes; at += HISTORY_ENTRY_BYTES) {
        const struct history_entry entry = history_entry_at(saved->history + at);
        if (!of || memcmp(entry.id, of->id, ID_BYTES) == 0)
            rumors += entry.next;
    }
    return rumors;
}

static const struct saved *newest_of(uint32_t i)
{
    const struct saved *saved = sim_disk_newest(&world.nodes[i].sim_disk);
    assert_non_null(saved);
    return saved;
}

/* Its base is that of the checkpoint, to the last unit; so are the weights of the last part, unless
 * it has begun a step already. */
static void must_begin_with(uint32_t i, const struct saved *saved)
{
    int32_t units[PARAMETERS];
    float weights[PARAMETERS];
    sim_learner_read_units(&world.nodes[i].sim_learner, units);
    weights_of(i, weights);
    assert_memory_equal(units, saved->state.base, sizeof units);
    if (!is_training(i))
        assert_memory_equal(weights + saved->last_part, saved->state.weights + saved->last_part,
                            sizeof weights - saved->last_part * sizeof *weights);
    assert_int_equal(stats_of(i).version, rumors_in(saved, NULL));
}

static void who_was_killed_goes_on_from_its_last_checkpoint(void **state)
{
    (void)state;
    start_saving_swarm();
    const uint64_t incarnation = incarnation_of(2);
    world_kill(&world, 2, true);
    assert_true(rumors_in(newest_of(2), NULL) > 50);
    run(2 * SECOND_NS);
    world_start(&world, 2);
    must_begin_with(2, newest_of(2));
    assert_true(incarnation_of(2) > incarnation);
    run(10 * SECOND_NS);
    assert_true(meshed());
    assert_true(is_training(2));
    assert_int_equal(bases_of(2), 0); /* it lacked little */
    must_agree(5 * SECOND_NS);
}

static void a_checkpoint_that_was_not_all_written_is_none(void **state)
{
    (void)state;
    start_saving_swarm();
    const struct saved *saved = newest_of(2);
    while (saved->durable_ns < world_now_ns(&world)) /* until another is begun */
        run(MILLI_NS);
    const uint64_t unfinished = rumors_in(saved, NULL);
    world_kill(&world, 2, true);
    assert_true(rumors_in(newest_of(2), NULL) < unfinished);
    world_start(&world, 2);
    must_begin_with(2, newest_of(2));
    run(10 * SECOND_NS);
    must_agree(5 * SECOND_NS);
}

/* While a checkpoint of several parts is being written. */
static void who_is_killed_between_two_parts_goes_on_from_the_checkpoint_before(void **state)
{
    (void)state;
    start_saving_swarm();
    const struct sim_disk *disk = &world.nodes[2].sim_disk;
    while (!disk->queue || sim_disk_written(disk) == 0)
        run(MILLI_NS);
    const void *before = newest_of(2)->memory;
    assert_true(sim_disk_written(disk) < PARAMETERS);
    world_kill(&world, 2, true);
    assert_ptr_equal(newest_of(2)->memory, before);
    world_start(&world, 2);
    must_begin_with(2, newest_of(2));
    run(10 * SECOND_NS);
    must_agree(5 * SECOND_NS);
}

/* What it told after its checkpoint comes back to it from the others, and must not be told again:
 * so it takes it off what it has not told. Nothing is learned meanwhile. */
static void what_it_told_after_the_checkpoint_it_hears_as_its_own(void **state)
{
    (void)state;
    struct node_options options = saving_options();
    options.save_ns = 7 * SECOND_NS;
    options.interval_ns = 2 * SECOND_NS;
    start_swarm(3, &options);
    run(20 * SECOND_NS);
    struct identity *own = &world.nodes[2].identity;
    const uint64_t at_first = rumors_in(newest_of(2), own);
    while (known_of(2, 2) != rumors_in(newest_of(2), own) ||
           rumors_in(newest_of(2), own) <= at_first)
        run(MILLI_NS); /* saved, and not told since ... */
    while (known_of(2, 2) == rumors_in(newest_of(2), own))
        run(MILLI_NS); /* ... but once */
    world_rest(&world);
    run(SECOND_NS);
    world_kill(&world, 2, false);
    world_start(&world, 2);
    must_begin_with(2, newest_of(2));
    double before[PARAMETERS], after[PARAMETERS];
    residual_of(2, before);
    run(5 * SECOND_NS);
    residual_of(2, after);
    assert_true(sum_of_sizes(after) < 0.9 * sum_of_sizes(before));
    for (int c = 0; c < PARAMETERS; c++) { /* it only gets less, but for the last bit of a weight */
        assert_true(fabs(after[c]) <= fabs(before[c]) + 1e-7);
        assert_true(after[c] * before[c] > -1e-9);
    }
    assert_one_version();
}

static void a_clock_set_back_makes_no_second_life_of_the_same_number(void **state)
{
    (void)state;
    start_saving_swarm();
    for (int i = 0; i < 3; i++) {
        const uint64_t incarnation = incarnation_of(2);
        world_kill(&world, 2, false);
        world.nodes[2].clock_ms -= 3600 * 1000;
        world_start(&world, 2);
        assert_true(incarnation_of(2) > incarnation);
        run(5 * SECOND_NS);
        assert_true(meshed());
        assert_int_equal(world.nodes[2].notes[NOTE_IDENTITY_TAKEN], 0);
    }
    must_agree(5 * SECOND_NS);
}

static void where_the_newest_checkpoint_is_rotten_the_older_is_taken(void **state)
{
    (void)state;
    start_saving_swarm();
    world_kill(&world, 2, false);
    const uint64_t newest = rumors_in(newest_of(2), NULL);
    sim_disk_rot(&world.nodes[2].sim_disk);
    assert_true(rumors_in(newest_of(2), NULL) < newest);
    world_start(&world, 2);
    must_begin_with(2, newest_of(2));
    run(10 * SECOND_NS);
    must_agree(5 * SECOND_NS);
}

static void who_has_lost_its_disk_begins_with_nothing(void **state)
{
    (void)state;
    start_saving_swarm();
    world_kill(&world, 2, false);
    world_wipe(&world, 2);
    world_start(&world, 2);
    assert_int_equal(stats_of(2).version, 0);
    run(10 * SECOND_NS);
    assert_true(is_training(2));
    must_agree(5 * SECOND_NS);
}

static void all_of_a_swarm_that_lost_its_power_go_on_together(void **state)
{
    (void)state;
    start_saving_swarm();
    const uint64_t known = stats_of(0).version;
    for (uint32_t i = 0; i < 3; i++)
        world_kill(&world, i, true);
    run(5 * SECOND_NS);
    start_all();
    for (uint32_t i = 0; i < 3; i++)
        must_begin_with(i, newest_of(i));
    run(20 * SECOND_NS);
    must_agree(10 * SECOND_NS);
    assert_true(stats_of(0).version > known / 2);
}

static void who_was_away_for_long_takes_over_a_base_and_keeps_what_it_had_not_told(void **state)
{
    (void)state;
    struct node_options options = busy_options();
    options.save_ns = 2 * SECOND_NS;
    start_swarm(3, &options);
    run(20 * SECOND_NS);
    world_kill(&world, 2, false);
    run(40 * SECOND_NS);
    world_start(&world, 2);
    must_begin_with(2, newest_of(2));
    until(is_training, 2, 20 * SECOND_NS);
    assert_true(bases_of(2) > 0);
    double residual[PARAMETERS];
    residual_of(2, residual);
    assert_true(sum_of_sizes(residual) > 0);
    must_agree(10 * SECOND_NS);
}

/* Nobody left. */

/* It has begun again, by itself. */
static bool is_newborn(uint32_t i)
{
    return world_is_running(&world, i) && world.nodes[i].born_ns == world_now_ns(&world);
}

static void who_had_nothing_begins_alone_when_all_are_gone_who_have_the_base(void **state)
{
    (void)state;
    struct node_options options = busy_options();
    options.serve_bytes_per_s = 500;
    start_swarm(2, &options);
    run(30 * SECOND_NS);
    const uint32_t joiner = join(&options, 2);
    until_blocks(joiner, SMALL_BLOCKS / 3, 20 * SECOND_NS);
    world_kill(&world, 0, false);
    world_kill(&world, 1, false);
    run(NODE_LOST_WAIT_NS / 2);
    assert_true(is_catching_up(joiner));
    until(is_newborn, joiner, NODE_LOST_WAIT_NS);
    assert_int_equal(stats_of(joiner).version, 0);
    until(is_training, joiner, NODE_JOIN_WAIT_NS + 5 * SECOND_NS);
    must_agree(2 * SECOND_NS);
}

static void who_had_a_checkpoint_goes_on_with_it_when_all_are_gone_who_have_the_base(void **state)
{
    (void)state;
    struct node_options options = busy_options();
    options.serve_bytes_per_s = 500;
    options.save_ns = 2 * SECOND_NS;
    start_swarm(3, &options);
    run(20 * SECOND_NS);
    world_kill(&world, 2, false);
    run(40 * SECOND_NS);
    world_start(&world, 2);
    until_blocks(2, SMALL_BLOCKS / 3, 20 * SECOND_NS);
    world_kill(&world, 0, false);
    world_kill(&world, 1, false);
    const struct saved *saved = newest_of(2);
    until(is_newborn, 2, NODE_LOST_WAIT_NS + 10 * SECOND_NS);
    assert_ptr_equal(newest_of(2)->memory,
                     saved->memory); /* what was half taken over is not saved */
    must_begin_with(2, saved);
    until(is_training, 2, NODE_JOIN_WAIT_NS + 5 * SECOND_NS);
    must_agree(2 * SECOND_NS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(who_was_killed_goes_on_from_its_last_checkpoint),
        STORY(a_checkpoint_that_was_not_all_written_is_none),
        STORY(who_is_killed_between_two_parts_goes_on_from_the_checkpoint_before),
        STORY(what_it_told_after_the_checkpoint_it_hears_as_its_own),
        STORY(a_clock_set_back_makes_no_second_life_of_the_same_number),
        STORY(where_the_newest_checkpoint_is_rotten_the_older_is_taken),
        STORY(who_has_lost_its_disk_begins_with_nothing),
        STORY(all_of_a_swarm_that_lost_its_power_go_on_together),
        STORY(who_was_away_for_long_takes_over_a_base_and_keeps_what_it_had_not_told),
        STORY(who_had_nothing_begins_alone_when_all_are_gone_who_have_the_base),
        STORY(who_had_a_checkpoint_goes_on_with_it_when_all_are_gone_who_have_the_base),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
