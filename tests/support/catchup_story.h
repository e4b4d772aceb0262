/* Stories in which a base is taken over: a busy swarm, whose logs are so small that what was told
 * is soon gone from them, and somebody who lacks too much. swarm_world.h tells the rest.
 *
 *   start_busy_swarm ─► join ─► until(has_blocks, …) ─► faults ─► until(is_training, …) */
#ifndef HEARSAY_TESTS_SUPPORT_CATCHUP_STORY_H
#define HEARSAY_TESTS_SUPPORT_CATCHUP_STORY_H

#include "support/swarm_world.h"
#include "node/broadcast/version.h"

#define SMALL_BLOCK  10
#define SMALL_BLOCKS (PARAMETERS / SMALL_BLOCK)

/* 128 rumors in the log, which is some two seconds of three nodes; blocks so small that one takes a
 * while to count them. */
static inline struct node_options busy_options(void)
{
    struct node_options options = usual_options();
    options.interval_ns = SECOND_NS / 20;
    options.steps_min = 1;
    options.log_bytes = 1 << 16;
    options.block_entries = SMALL_BLOCK;
    return options;
}

/* Another one, who knows where these are. Returns its number. */
static inline uint32_t join(const struct node_options *options, uint32_t swarm)
{
    const uint32_t i = add(options);
    for (uint32_t k = 0; k < swarm; k++)
        world_introduce(&world, i, k);
    world_start(&world, i);
    return i;
}

/* What one may wait for. */

static inline bool is_training(uint32_t i)
{
    return world_is_running(&world, i) && world.nodes[i].training;
}

static inline bool is_catching_up(uint32_t i)
{
    return world_is_running(&world, i) && node_is_catching_up(world.nodes[i].node);
}

static inline bool has_base(uint32_t i)
{
    return world_is_running(&world, i) && !node_is_catching_up(world.nodes[i].node);
}

static inline bool is_finished(uint32_t i)
{
    return world.nodes[i].finished;
}

/* Until it holds, looked at every millisecond; or the story fails. */
static inline void until(bool (*holds)(uint32_t i), uint32_t i, uint64_t within_ns)
{
    const uint64_t end_ns = world_now_ns(&world) + within_ns;
    while (!holds(i)) {
        if (world_now_ns(&world) >= end_ns)
            fail_msg("node %u: what was waited for did not come", (unsigned)i);
        run(MILLI_NS);
    }
}

/* Until so many blocks of the base that it takes over are there. */
static inline void until_blocks(uint32_t i, uint32_t blocks, uint64_t within_ns)
{
    until(is_catching_up, i, within_ns);
    const uint64_t end_ns = world_now_ns(&world) + within_ns;
    while (stats_of(i).blocks_held < blocks) {
        assert_true(world_now_ns(&world) < end_ns);
        run(MILLI_NS);
    }
    assert_true(is_catching_up(i));
}

/* How many rumors of what node `of` told in its present life node i knows. */
static inline uint32_t known_of(uint32_t i, uint32_t of)
{
    struct node_origin own, known;
    node_own(world.nodes[of].node, &own);
    for (uint32_t k = 0; k < node_origins(world.nodes[i].node); k++) {
        node_origin(world.nodes[i].node, k, &known);
        if (memcmp(known.id, own.id, ID_BYTES) == 0 && known.incarnation == own.incarnation)
            return known.next;
    }
    return 0;
}

static inline uint64_t incarnation_of(uint32_t i)
{
    return node_incarnation(world.nodes[i].node);
}

static inline uint32_t bases_of(uint32_t i)
{
    return node_bases(world.nodes[i].node);
}

/* The weights of a mind, and what it has not told. */
static inline void weights_of(uint32_t i, float out[static PARAMETERS])
{
    random_walk_read_weights(world.nodes[i].sim_learner.random_walk, out);
}

static inline void residual_of(uint32_t i, double out[static PARAMETERS])
{
    float weights[PARAMETERS];
    int32_t units[PARAMETERS];
    weights_of(i, weights);
    sim_learner_read_units(&world.nodes[i].sim_learner, units);
    for (uint32_t c = 0; c < PARAMETERS; c++)
        out[c] = (double)weights[c] - (double)QUANTUM * units[c];
}

static inline double sum_of_sizes(const double residual[static PARAMETERS])
{
    double sum = 0;
    for (uint32_t c = 0; c < PARAMETERS; c++)
        sum += residual[c] < 0 ? -residual[c] : residual[c];
    return sum;
}

#endif
