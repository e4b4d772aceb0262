/* A killed node continues from its last checkpoint. It recognizes the rumors that it published
 * after that checkpoint as its own. */
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

/* Starts three nodes that save checkpoints. */
static void start_saving_swarm(void)
{
    const struct node_options options = saving_options();
    start_swarm(3, &options);
    run(20 * SECOND_NS);
}

/* Returns how many rumors of node `of` a checkpoint contains; NULL = rumors of all nodes. */
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

/* Checks that node i's base and version equal those of the checkpoint. Unless node i trains
 * already, also checks the last part of its weights. */
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

static void a_killed_node_continues_from_its_last_checkpoint(void **state)
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
    assert_int_equal(bases_of(2), 0); /* node 2 received the missing rumors and took over no base */
    must_agree(5 * SECOND_NS);
}

static void ignores_an_incomplete_checkpoint(void **state)
{
    (void)state;
    start_saving_swarm();
    const struct saved *saved = newest_of(2);
    while (saved->durable_ns < world_now_ns(&world)) /* until the next checkpoint begins */
        run(MS_NS);
    const uint64_t unfinished = rumors_in(saved, NULL);
    world_kill(&world, 2, true);
    assert_true(rumors_in(newest_of(2), NULL) < unfinished);
    world_start(&world, 2);
    must_begin_with(2, newest_of(2));
    run(10 * SECOND_NS);
    must_agree(5 * SECOND_NS);
}

static void a_kill_between_two_parts_restores_the_previous_checkpoint(void **state)
{
    (void)state;
    start_saving_swarm();
    const struct sim_disk *disk = &world.nodes[2].sim_disk;
    while (!disk->queue || sim_disk_written(disk) == 0)
        run(MS_NS);
    const void *before = newest_of(2)->memory;
    assert_true(sim_disk_written(disk) < PARAMETERS);
    world_kill(&world, 2, true);
    assert_ptr_equal(newest_of(2)->memory, before);
    world_start(&world, 2);
    must_begin_with(2, newest_of(2));
    run(10 * SECOND_NS);
    must_agree(5 * SECOND_NS);
}

/* Other nodes send back what node 2 published after its checkpoint. Node 2 subtracts these rumors
 * from its residual, so that it does not publish them again. No node trains meanwhile. */
static void own_rumors_after_the_checkpoint_are_recognized(void **state)
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
        run(MS_NS); /* until a checkpoint contains all of node 2's publications */
    while (known_of(2, 2) == rumors_in(newest_of(2), own))
        run(MS_NS); /* until node 2 publishes once more */
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
    /* Entries of the residual can only become smaller, except for rounding. */
    for (int c = 0; c < PARAMETERS; c++) {
        assert_true(fabs(after[c]) <= fabs(before[c]) + 1e-7);
        assert_true(after[c] * before[c] > -1e-9);
    }
    assert_one_version();
}

static void a_clock_set_back_reuses_no_incarnation(void **state)
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

static void a_corrupt_checkpoint_falls_back_to_the_older_one(void **state)
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

static void a_node_with_a_lost_disk_starts_empty(void **state)
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

static void a_swarm_continues_together_after_a_power_cut(void **state)
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

static void a_long_absent_node_takes_over_a_base_and_keeps_its_residual(void **state)
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

/* Returns true if node i has just reset its base because no node has the swarm's base. */
static bool is_newborn(uint32_t i)
{
    return world_is_running(&world, i) && world.nodes[i].born_ns == world_now_ns(&world);
}

static void a_node_without_a_checkpoint_resets_when_no_base_is_left(void **state)
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

static void a_joiner_resets_soon_if_the_members_with_the_base_have_left(void **state)
{
    (void)state;
    struct node_options options = busy_options();
    options.serve_bytes_per_s = 500;
    options.grace_ns = SECOND_NS;
    start_swarm(2, &options);
    run(30 * SECOND_NS);
    const uint32_t joiner = join(&options, 2);
    until_blocks(joiner, SMALL_BLOCKS / 3, 20 * SECOND_NS);
    world_leave(&world, 0);
    world_leave(&world, 1);
    until(is_newborn, joiner, NODE_JOIN_WAIT_NS + 5 * SECOND_NS);
    until(is_training, joiner, NODE_JOIN_WAIT_NS + 5 * SECOND_NS);
    must_agree(2 * SECOND_NS);
}

static void a_node_with_a_checkpoint_continues_when_no_base_is_left(void **state)
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
                     /* an incomplete transfer is not saved */
                     saved->memory);
    must_begin_with(2, saved);
    until(is_training, 2, NODE_JOIN_WAIT_NS + 5 * SECOND_NS);
    must_agree(2 * SECOND_NS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(a_killed_node_continues_from_its_last_checkpoint),
        STORY(ignores_an_incomplete_checkpoint),
        STORY(a_kill_between_two_parts_restores_the_previous_checkpoint),
        STORY(own_rumors_after_the_checkpoint_are_recognized),
        STORY(a_clock_set_back_reuses_no_incarnation),
        STORY(a_corrupt_checkpoint_falls_back_to_the_older_one),
        STORY(a_node_with_a_lost_disk_starts_empty),
        STORY(a_swarm_continues_together_after_a_power_cut),
        STORY(a_long_absent_node_takes_over_a_base_and_keeps_its_residual),
        STORY(a_node_without_a_checkpoint_resets_when_no_base_is_left),
        STORY(a_joiner_resets_soon_if_the_members_with_the_base_have_left),
        STORY(a_node_with_a_checkpoint_continues_when_no_base_is_left),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
