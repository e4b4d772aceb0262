/* A swarm in a world (sim/world/world.h), for stories: nodes 20 ms apart, each with a mind that
 * wanders, and room for outsiders, who live a tenth of a millisecond away from all of them.
 *
 *   begin_world ─► start_swarm, or add, world_introduce, world_start ─► run, cut … ─► must_agree
 *
 * All checks of the world (sim/checks/check.h) are on: what breaks one fails the test at once.
 * Include cmocka.h first. */
#ifndef HEARSAY_TESTS_SUPPORT_SWARM_WORLD_H
#define HEARSAY_TESTS_SUPPORT_SWARM_WORLD_H

#include <string.h>

#include "backend/backend.h"
#include "world/world.h"

#define NODES_MAX     40
#define OUTSIDERS_MAX 8
#ifndef PARAMETERS
#define PARAMETERS 600
#endif
#define DELAY_NS  (20 * MILLI_NS)
#define NEARBY_NS (MILLI_NS / 10)

enum region { HERE, NEARBY, REGIONS }; /* of the nodes, of the outsiders */

static struct backend *backend;
static struct world world;
static struct path paths[SCENARIO_REGIONS_MAX][SCENARIO_REGIONS_MAX];
static struct rate up_rates[NODES_MAX];
static uint32_t density_max; /* entries at once, by the minds made from now on */
static uint64_t births;

static inline void make_sim_learner(void *self, uint32_t i, struct sim_learner *sim_learner)
{
    (void)self;
    (void)i;
    arena_init(&sim_learner->arena, ((size_t)1 << 20) + PARAMETERS * (size_t)128);
    sim_learner->parameters = PARAMETERS;
    sim_learner->is_accounted = true;
    sim_learner->random_walk =
        random_walk_new(&sim_learner->arena, backend, PARAMETERS, ++births, density_max, true);
}

static inline void begin_world(uint64_t seed)
{
    const struct world_options made = {.seed = seed,
                                       .nodes_max = NODES_MAX,
                                       .outsiders_max = OUTSIDERS_MAX,
                                       .paths = paths,
                                       .regions = REGIONS,
                                       .maker = {.make = make_sim_learner}};
    births = 0;
    density_max = 60;
    for (int a = 0; a < REGIONS; a++)
        for (int b = 0; b < REGIONS; b++)
            paths[a][b] = (struct path){.delay_ns = a == HERE && b == HERE ? DELAY_NS : NEARBY_NS};
    memset(up_rates, 0, sizeof up_rates);
    world_init(&world, &made);
    for (uint32_t i = 0; i < NODES_MAX; i++)
        world.wire.parties[i].up.rate = &up_rates[i];
    for (uint32_t i = 0; i < OUTSIDERS_MAX; i++)
        world.wire.parties[NODES_MAX + i].region = NEARBY;
}

static inline int world_begins(void **state)
{
    (void)state;
    begin_world(1);
    return 0;
}

static inline int world_ends(void **state)
{
    (void)state;
    world_free(&world);
    return 0;
}

static inline int open_all(void **state)
{
    (void)state;
    secret_start();
    backend = backend_cpu(1);
    return 0;
}

static inline int close_all(void **state)
{
    (void)state;
    backend->close(backend);
    return 0;
}

/* Nodes. */

static inline struct node_options usual_options(void)
{
    return (struct node_options){
        .swarm_key = {0x5A, 1, 2, 3},
        .swarm_id = "world",
        .model = "600 numbers",
        .listen_port = WORLD_PORT,
        .trains = true,
        .bytes_per_s = 4000,
        .interval_ns = SECOND_NS / 2,
        .steps_min = 4,
        .gain = 1,
        .beta = 0.3,
        .weigh_throughput = true,
        .log_bytes = 1 << 20,
        .apply_window = 2000,
        .limits.peers_max = 16,
        .limits.members_max = 64,
        .limits.incarnations_max = 512,
        .limits.half_open_max = 8,
        .limits.half_open_per_net_max = 4,
        .limits.handshake_ns = 5 * SECOND_NS,
        .block_entries = 100,
        .partition_s = 30,
        .limits.silence_ns = 3 * SECOND_NS,
        .grace_ns = 20 * SECOND_NS,
        .limits.send_queue_bytes = 1 << 18,
        .limits.notes_per_s = 10,
    };
}

/* A node, not running yet; those with one identity are one to the others. */
static inline uint32_t add_as(const struct node_options *options, uint64_t identity)
{
    const uint32_t i = world_add(&world, options, identity, HERE);
    world.nodes[i].step_ns = 20 * MILLI_NS;
    world.nodes[i].step_samples = 32;
    return i;
}

static inline uint32_t add(const struct node_options *options)
{
    return add_as(options, world.nodes_count + 1);
}

static inline void start_all(void)
{
    for (uint32_t i = 0; i < world.nodes_count; i++)
        world_start(&world, i);
}

/* n nodes; each knows where the first is. */
static inline void add_swarm(uint32_t n, const struct node_options *options)
{
    for (uint32_t i = 0; i < n; i++) {
        (void)add(options);
        if (i > 0)
            world_introduce(&world, i, 0);
    }
}

static inline void start_swarm(uint32_t n, const struct node_options *options)
{
    add_swarm(n, options);
    start_all();
}

static inline void start_usual_swarm(uint32_t n)
{
    const struct node_options options = usual_options();
    start_swarm(n, &options);
}

/* What happens to them. */

static inline void assert_all_holds(void)
{
    assert_string_equal(world.check.violation, "");
}

static inline void run(uint64_t span_ns)
{
    const uint64_t until_ns = world_now_ns(&world) + span_ns;
    while (world_now_ns(&world) < until_ns) {
        const uint64_t second_ns = (world_now_ns(&world) / SECOND_NS + 1) * SECOND_NS;
        world_run_until(&world, second_ns < until_ns ? second_ns : until_ns);
        if (world_now_ns(&world) == second_ns)
            check_second(&world);
        assert_all_holds();
    }
}

/* Nothing passes between these two, either way, and nobody is told. */
static inline void cut(uint32_t a, uint32_t b)
{
    wire_cut(&world.wire, a, b, true);
    wire_cut(&world.wire, b, a, true);
}

static inline void heal_cut(uint32_t a, uint32_t b)
{
    wire_cut(&world.wire, a, b, false);
    wire_cut(&world.wire, b, a, false);
}

/* 0: as fast as you like. */
static inline void limit_up(uint32_t i, uint64_t bytes_per_s)
{
    up_rates[i].bytes_per_s = bytes_per_s;
}

/* What a story asks. */

static inline struct node_stats stats_of(uint32_t i)
{
    struct node_stats stats;
    CHECK(world.nodes[i].node);
    node_stats(world.nodes[i].node, world_now_ns(&world), &stats);
    return stats;
}

static inline uint32_t neighbours(uint32_t i)
{
    return stats_of(i).neighbours;
}

static inline bool meshed(void)
{
    for (uint32_t i = 0; i < world.nodes_count; i++)
        if (world_is_running(&world, i) && neighbours(i) != world.nodes_count - 1)
            return false;
    return true;
}

static inline uint64_t rumors_published(void)
{
    uint64_t told = 0;
    for (uint32_t i = 0; i < world.nodes_count; i++)
        told += world_is_running(&world, i) ? stats_of(i).rumors_published : 0;
    return told;
}

/* Are these two bases equal, byte for byte? A mind stays when its process has ended. */
static inline bool same_base(uint32_t a, uint32_t b)
{
    int32_t x[PARAMETERS], y[PARAMETERS];
    sim_learner_read_units(&world.nodes[a].sim_learner, x);
    sim_learner_read_units(&world.nodes[b].sim_learner, y);
    return memcmp(x, y, sizeof x) == 0;
}

static inline void assert_one_version(void)
{
    assert_true(world_is_one_version(&world));
    check_end(&world); /* and one base, and it is the sum of what was told */
    assert_all_holds();
}

/* Training pauses; soon everybody holds the same. */
static inline void must_agree(uint64_t within_ns)
{
    world_rest(&world);
    run(within_ns);
    assert_one_version();
}

static inline void assert_near(double got, double want, double apart)
{
    if (!(got >= want - apart && got <= want + apart))
        fail_msg("%g is not near %g", got, want);
}

#define STORY(name) cmocka_unit_test_setup_teardown(name, world_begins, world_ends)

/* Its base is not whole, and yet it trains. */
static inline bool is_rolling(uint32_t i)
{
    const struct node *node = world.nodes[i].node;
    return node_is_catching_up(node) && node_phase(node) == NODE_RUNNING;
}

#endif
