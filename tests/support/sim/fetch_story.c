#include "support/sim/fetch_story.h"

struct node_options busy_options(void)
{
    struct node_options options = usual_options();
    options.interval_ns = SECOND_NS / 20;
    options.bytes_per_s = 20 * 256; /* 256 bytes for each of 20 publications a second */
    options.steps_min = 1;
    options.log_bytes = 1 << 16;
    options.block_entries = SMALL_BLOCK;
    return options;
}

uint32_t join(const struct node_options *options, uint32_t swarm)
{
    const uint32_t i = add(options);
    for (uint32_t k = 0; k < swarm; k++)
        world_introduce(&world, i, k);
    world_start(&world, i);
    return i;
}

uint32_t join_cut_off(const struct node_options *options, uint32_t swarm)
{
    const uint32_t joiner = add(options);
    for (uint32_t i = 0; i < swarm; i++) {
        world_introduce(&world, joiner, i);
        cut(i, joiner);
    }
    world_start(&world, joiner);
    run(100 * MS_NS);
    return joiner;
}

void join_reach(uint32_t joiner, uint32_t swarm)
{
    for (uint32_t i = 0; i < swarm; i++)
        heal_cut(i, joiner);
}

bool is_training(uint32_t i)
{
    return world_is_running(&world, i) && world.nodes[i].training;
}

bool is_catching_up(uint32_t i)
{
    return world_is_running(&world, i) && node_is_catching_up(world.nodes[i].node);
}

bool has_base(uint32_t i)
{
    return world_is_running(&world, i) && !node_is_catching_up(world.nodes[i].node);
}

bool is_finished(uint32_t i)
{
    return world.nodes[i].finished;
}

void until(bool (*holds)(uint32_t i), uint32_t i, uint64_t within_ns)
{
    const uint64_t end_ns = world_now_ns(&world) + within_ns;
    while (!holds(i)) {
        if (world_now_ns(&world) >= end_ns)
            fail_msg("node %u: what was waited for did not come", (unsigned)i);
        run(MS_NS);
    }
}

void until_blocks(uint32_t i, uint32_t blocks, uint64_t within_ns)
{
    until(is_catching_up, i, within_ns);
    const uint64_t end_ns = world_now_ns(&world) + within_ns;
    while (stats_of(i).blocks_held < blocks) {
        assert_true(world_now_ns(&world) < end_ns);
        run(MS_NS);
    }
    assert_true(is_catching_up(i));
}

uint32_t known_of(uint32_t i, uint32_t of)
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

uint64_t incarnation_of(uint32_t i)
{
    return node_incarnation(world.nodes[i].node);
}

uint32_t bases_of(uint32_t i)
{
    return node_bases(world.nodes[i].node);
}

void weights_of(uint32_t i, float out[static PARAMETERS])
{
    random_walk_read_weights(world.nodes[i].sim_learner.random_walk, out);
}

void residual_of(uint32_t i, double out[static PARAMETERS])
{
    float weights[PARAMETERS];
    int32_t units[PARAMETERS];
    weights_of(i, weights);
    sim_learner_read_units(&world.nodes[i].sim_learner, units);
    for (uint32_t c = 0; c < PARAMETERS; c++)
        out[c] = (double)weights[c] - (double)QUANTUM * units[c];
}

double sum_of_sizes(const double residual[static PARAMETERS])
{
    double sum = 0;
    for (uint32_t c = 0; c < PARAMETERS; c++)
        sum += residual[c] < 0 ? -residual[c] : residual[c];
    return sum;
}
