#include "support/sim/swarm_world.h"

struct backend *backend;
uint32_t parameters = PARAMETERS;
struct world world;
struct path paths[SCENARIO_REGIONS_MAX][SCENARIO_REGIONS_MAX];
static struct rate up_rates[NODES_MAX];
uint32_t density_max;
bool is_alike;
static uint64_t births;
uint64_t first_weights[NODES_MAX];

static void make_sim_learner(void *self, uint32_t i, struct sim_learner *sim_learner)
{
    (void)self;
    arena_init(&sim_learner->arena, ((size_t)1 << 20) + parameters * (size_t)128);
    sim_learner->parameters = parameters;
    sim_learner->is_accounted = true;
    sim_learner->random_walk = random_walk_new(&sim_learner->arena, backend, parameters,
                                               is_alike ? 1 : ++births, density_max, true);
    random_walk_begin(sim_learner->random_walk, first_weights[i]);
}

void begin_world(uint64_t seed)
{
    const struct world_options made = {.seed = seed,
                                       .nodes_max = NODES_MAX,
                                       .outsiders_max = OUTSIDERS_MAX,
                                       .paths = paths,
                                       .regions = REGIONS,
                                       .maker = {.make = make_sim_learner}};
    births = 0;
    density_max = 60;
    is_alike = false;
    for (int a = 0; a < REGIONS; a++)
        for (int b = 0; b < REGIONS; b++)
            paths[a][b] = (struct path){.delay_ns = a == HERE && b == HERE ? DELAY_NS : NEARBY_NS};
    memset(up_rates, 0, sizeof up_rates);
    memset(first_weights, 0, sizeof first_weights);
    world_init(&world, &made);
    for (uint32_t i = 0; i < NODES_MAX; i++)
        world.wire.parties[i].up.rate = &up_rates[i];
    for (uint32_t i = 0; i < OUTSIDERS_MAX; i++)
        world.wire.parties[NODES_MAX + i].region = NEARBY;
}

int world_begins(void **state)
{
    (void)state;
    begin_world(1);
    return 0;
}

int world_ends(void **state)
{
    (void)state;
    world_free(&world);
    return 0;
}

int open_all(void **state)
{
    (void)state;
    secret_start();
    backend = backend_cpu(1);
    return 0;
}

int close_all(void **state)
{
    (void)state;
    backend->close(backend);
    return 0;
}

struct node_options usual_options(void)
{
    static const uint8_t swarm_key[KEY_BYTES] = {0x5A, 1, 2, 3};
    return (struct node_options){
        .swarm_key = swarm_key,
        .swarm_id = "world",
        .model = "600 numbers",
        .listen_port = WORLD_PORT,
        .trains = true,
        .has_tests = true,
        .bytes_per_s = 4000,
        .interval_ns = SECOND_NS / 2,
        .steps_min = 4,
        .gain = 1,
        .beta = 0.3,
        .weigh_throughput = true,
        .log_bytes = 1 << 20,
        .limits.apply_window = 2000,
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

uint32_t add_as(const struct node_options *options, uint64_t identity)
{
    const uint32_t i = world_add(&world, options, identity, HERE);
    world.nodes[i].step_ns = 20 * MS_NS;
    world.nodes[i].step_samples = 32;
    return i;
}

uint32_t add(const struct node_options *options)
{
    return add_as(options, world.nodes_count + 1);
}

void start_all(void)
{
    for (uint32_t i = 0; i < world.nodes_count; i++)
        world_start(&world, i);
}

void add_swarm(uint32_t n, const struct node_options *options)
{
    for (uint32_t i = 0; i < n; i++) {
        (void)add(options);
        if (i > 0)
            world_introduce(&world, i, 0);
    }
}

void start_swarm(uint32_t n, const struct node_options *options)
{
    add_swarm(n, options);
    start_all();
}

void start_usual_swarm(uint32_t n)
{
    const struct node_options options = usual_options();
    start_swarm(n, &options);
}

static void assert_all_holds(void)
{
    assert_string_equal(world.check.violation, "");
}

void run(uint64_t span_ns)
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

void cut(uint32_t a, uint32_t b)
{
    wire_cut(&world.wire, a, b, true);
    wire_cut(&world.wire, b, a, true);
}

void heal_cut(uint32_t a, uint32_t b)
{
    wire_cut(&world.wire, a, b, false);
    wire_cut(&world.wire, b, a, false);
}

void limit_up(uint32_t i, uint64_t bytes_per_s)
{
    up_rates[i].bytes_per_s = bytes_per_s;
}

struct node_stats stats_of(uint32_t i)
{
    struct node_stats stats;
    CHECK(world.nodes[i].node);
    node_stats(world.nodes[i].node, world_now_ns(&world), &stats);
    return stats;
}

uint32_t neighbours(uint32_t i)
{
    return stats_of(i).neighbours;
}

bool meshed(void)
{
    for (uint32_t i = 0; i < world.nodes_count; i++)
        if (world_is_running(&world, i) && neighbours(i) != world.nodes_count - 1)
            return false;
    return true;
}

uint64_t rumors_published(void)
{
    uint64_t told = 0;
    for (uint32_t i = 0; i < world.nodes_count; i++)
        told += world_is_running(&world, i) ? stats_of(i).rumors_published : 0;
    return told;
}

bool same_base(uint32_t a, uint32_t b)
{
    static int32_t x[PARAMETERS_MAX], y[PARAMETERS_MAX];
    CHECK(parameters <= PARAMETERS_MAX);
    sim_learner_read_units(&world.nodes[a].sim_learner, x);
    sim_learner_read_units(&world.nodes[b].sim_learner, y);
    return memcmp(x, y, parameters * sizeof *x) == 0;
}

void assert_one_version(void)
{
    assert_true(world_is_one_version(&world));
    check_end(&world); /* checks that all nodes have one base, the sum of all rumors */
    assert_all_holds();
}

void must_agree(uint64_t within_ns)
{
    world_rest(&world);
    run(within_ns);
    assert_one_version();
}

void assert_near(double got, double want, double apart)
{
    if (!(got >= want - apart && got <= want + apart))
        fail_msg("%g is not near %g", got, want);
}

bool is_rolling(uint32_t i)
{
    const struct node *node = world.nodes[i].node;
    return node_is_catching_up(node) && node_phase(node) == NODE_RUNNING;
}
