/* A node whose line cannot carry all of the swarm's rumors takes over block after block. Its base
 * is complete only when fewer rumors are published or the line improves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define PARAMETERS 20000
#include "support/sim/swarm_world.h"

#define NODES 5
#define HUT   4    /* number of the node with the slow line */
#define THIN  8000 /* bytes per second of node HUT's line, a fifth of the published rumors */
#define GOOD  1000000

static struct rate down_rates[NODES];

static void limit_down(uint32_t i, uint64_t bytes_per_s)
{
    down_rates[i].bytes_per_s = bytes_per_s;
    world.wire.parties[i].down.rate = &down_rates[i];
}

/* Starts nodes that publish about 5 kB twice a second. Their blocks list at most listed_max
 * origins. */
static void start_talkative_listing(uint32_t listed_max)
{
    struct node_options options = usual_options();
    options.limits.listed_max = listed_max;
    options.bytes_per_s = 20000;
    options.log_bytes = 4 << 20;
    options.limits.apply_window = 20000;
    options.block_entries = 1000;
    density_max = 5000;
    start_swarm(NODES, &options);
}

static void start_talkative(void)
{
    start_talkative_listing(0);
}

static uint64_t distance(const int32_t *a, const int32_t *b)
{
    uint64_t sum = 0;
    for (uint32_t c = 0; c < PARAMETERS; c++)
        sum += (uint64_t)llabs((long long)a[c] - b[c]);
    return sum;
}

static void a_node_on_a_thin_line_takes_blocks_and_keeps_training(void **state)
{
    (void)state;
    static int32_t then[PARAMETERS], now[PARAMETERS], there[PARAMETERS];
    start_talkative();
    limit_down(HUT, THIN);
    run(60 * SECOND_NS);
    sim_learner_read_units(&world.nodes[0].sim_learner, then);
    const struct node_stats before = stats_of(HUT);
    run(40 * SECOND_NS);
    sim_learner_read_units(&world.nodes[0].sim_learner, now);
    sim_learner_read_units(&world.nodes[HUT].sim_learner, there);
    assert_true(is_rolling(HUT));
    assert_true(distance(there, now) < distance(then, now));
    assert_true(stats_of(HUT).rumors_published > before.rumors_published + 20);
    assert_true(stats_of(HUT).lag_ns < 40 * SECOND_NS);
    assert_int_equal(stats_of(HUT).members_live, NODES);
    assert_true(stats_of(0).lag_ns < 5 * SECOND_NS);
    for (uint32_t i = 0; i < HUT; i++)
        assert_false(node_is_catching_up(world.nodes[i].node));
}

/* Blocks list only three origins, so HUT does not know which rumors of other nodes are in them. HUT
 * only needs to know which of its own rumors are in them. */
static void origins_that_blocks_do_not_list_do_not_matter(void **state)
{
    (void)state;
    start_talkative_listing(3);
    limit_down(HUT, THIN);
    run(60 * SECOND_NS);
    assert_true(is_rolling(HUT));
    const uint32_t rounds = node_bases(world.nodes[HUT].node);
    for (int s = 0; s < 60; s++) {
        run(SECOND_NS);
        assert_true(is_rolling(HUT));
    }
    assert_true(node_bases(world.nodes[HUT].node) >= rounds + 2);
}

static void leaving_nodes_do_not_wait_for_it(void **state)
{
    (void)state;
    start_talkative();
    limit_down(HUT, THIN);
    run(60 * SECOND_NS);
    assert_true(is_rolling(HUT));
    world_leave(&world, 0);
    run(10 * SECOND_NS); /* half of the grace time */
    assert_true(world.nodes[0].finished);
    assert_int_equal(world.nodes[0].last[NOTE_LEFT].level, LEVEL_INFO);
}

static void the_base_becomes_whole_when_less_is_published(void **state)
{
    (void)state;
    start_talkative();
    limit_down(HUT, THIN);
    run(60 * SECOND_NS);
    assert_true(node_is_catching_up(world.nodes[HUT].node));
    must_agree(90 * SECOND_NS);
    assert_false(node_is_catching_up(world.nodes[HUT].node));
}

static void the_base_becomes_whole_when_the_line_improves(void **state)
{
    (void)state;
    start_talkative();
    limit_down(HUT, THIN);
    run(60 * SECOND_NS);
    limit_down(HUT, GOOD);
    run(60 * SECOND_NS);
    assert_false(node_is_catching_up(world.nodes[HUT].node));
    assert_true(stats_of(HUT).lag_ns < 5 * SECOND_NS);
    must_agree(5 * SECOND_NS);
}

static void a_joiner_on_a_thin_line_trains_before_its_base_is_whole(void **state)
{
    (void)state;
    start_talkative();
    world_kill(&world, HUT, true);
    run(30 * SECOND_NS);
    limit_down(HUT, THIN);
    world_start(&world, HUT);
    run(60 * SECOND_NS);
    assert_true(world.nodes[HUT].training);
    assert_true(node_is_catching_up(world.nodes[HUT].node));
    assert_true(stats_of(HUT).rumors_published > 0);
}

static void few_nodes_give_up_their_bases_when_all_lag(void **state)
{
    (void)state;
    start_talkative();
    for (uint32_t i = 0; i < NODES; i++)
        limit_down(i, THIN);
    uint32_t most = 0;
    for (uint32_t s = 0; s < 90; s++) {
        run(SECOND_NS);
        uint32_t patching = 0;
        for (uint32_t i = 0; i < NODES; i++)
            patching += is_rolling(i);
        most = patching > most ? patching : most;
    }
    assert_true(most <= 2);
    must_agree(120 * SECOND_NS);
}

int main(void)
{
    parameters = PARAMETERS;
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_begins, world_ends)
    const struct CMUnitTest tests[] = {
        TEST(a_node_on_a_thin_line_takes_blocks_and_keeps_training),
        TEST(origins_that_blocks_do_not_list_do_not_matter),
        TEST(leaving_nodes_do_not_wait_for_it),
        TEST(the_base_becomes_whole_when_less_is_published),
        TEST(the_base_becomes_whole_when_the_line_improves),
        TEST(a_joiner_on_a_thin_line_trains_before_its_base_is_whole),
        TEST(few_nodes_give_up_their_bases_when_all_lag),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
