/* A small world in which a list of faults happens: five nodes that know each other, each with a
 * mind that wanders, 20 ms apart, and room for four outsiders. Include cmocka.h first. */
#ifndef HEARSAY_TEST_TROUBLE_WORLD_H
#define HEARSAY_TEST_TROUBLE_WORLD_H

#include <string.h>

#include "backend.h"
#include "trouble.h"

#define NODES      5
#define TWIN       NODES /* another process with the identity of node 0 */
#define PARAMETERS 400
#define TEXTS      12

static struct backend *backend;
static struct world world;
static struct trouble *trouble;
static struct path paths[SCENARIO_REGIONS_MAX][SCENARIO_REGIONS_MAX];
static uint64_t births;

/* Which of these a node has said. */
static const char *const texts[TEXTS] = {
    "did not show the swarm key",
    "did not finish the handshake in time",
    "its last handshake message is not valid",
    "a frame of impossible size",
    "a record does not authenticate",
    "did not introduce itself first",
    "introduced itself wrongly",
    "sent a message that is not valid",
    "sent a rumor that is not valid (malformed)",
    "sent a rumor that is not valid (forged)",
    "sent a rumor that is not valid (too big)",
    "sent a member record that is not valid",
};
static uint32_t said[TEXTS];

static inline void make_mind(void *self, uint32_t i, struct mind *mind)
{
    (void)self;
    (void)i;
    arena_init(&mind->arena, (size_t)1 << 22);
    mind->parameters = PARAMETERS;
    mind->is_accounted = true;
    mind->wander = wander_new(&mind->arena, backend, PARAMETERS, ++births, 40, true);
}

static inline void on_user(void *self, uint64_t subject, uint64_t amount)
{
    (void)self;
    assert_true(trouble_owns(subject));
    trouble_on_event(trouble, subject, amount);
}

static inline void on_note(void *self, uint32_t i, const struct note *note)
{
    (void)self;
    (void)i;
    for (int k = 0; k < TEXTS; k++)
        said[k] += strstr(note->text, texts[k]) != NULL;
}

static inline struct node_options options(void)
{
    return (struct node_options){
        .swarm_id = "trouble",
        .model = "400 numbers",
        .listen_port = WORLD_PORT,
        .trains = true,
        .bytes_per_s = 400,
        .interval_ns = SECOND_NS,
        .steps_min = 4,
        .gain = 1,
        .weigh_throughput = true,
        .log_bytes = 1 << 20,
        .apply_window = 2000,
        .peers_max = 16,
        .members_max = 64,
        .half_open_max = 8,
        .half_open_per_net_max = 8,
        .handshake_ns = 5 * SECOND_NS,
        .silence_ns = 10 * SECOND_NS,
        .grace_ns = 20 * SECOND_NS,
        .send_queue_bytes = 1 << 18,
        .notes_per_s = 100,
    };
}

static inline void begin(const struct fault *faults, uint32_t count, uint64_t seed)
{
    const struct world_options made = {.seed = seed,
                                       .nodes_max = NODES + 1,
                                       .outsiders_max = 4,
                                       .paths = paths,
                                       .regions = 1,
                                       .maker = {.make = make_mind}};
    paths[0][0] = (struct path){.delay_ns = 20 * MILLI_NS, .jitter_ns = 2 * MILLI_NS};
    births = 0;
    memset(said, 0, sizeof said);
    world_init(&world, &made);
    world.on_user = on_user;
    world.on_note = on_note;
    for (uint32_t i = 0; i <= TWIN; i++) {
        const struct node_options each = options();
        (void)world_add(&world, &each, i == TWIN ? 1 : i + 1, 0);
        world.nodes[i].step_ns = 50 * MILLI_NS;
        world.nodes[i].step_samples = 32;
        for (uint32_t k = 0; k < i; k++)
            world_introduce(&world, i, k);
    }
    trouble = trouble_new(&world, faults, count, seed);
    for (uint32_t i = 0; i < NODES; i++)
        world_start(&world, i);
}

static inline void run_to(double s)
{
    const uint64_t until_ns = WORLD_BEGIN_NS + (uint64_t)(s * (double)SECOND_NS);
    while (world_now_ns(&world) < until_ns) {
        const uint64_t next_ns = world_now_ns(&world) + SECOND_NS;
        world_run_until(&world, next_ns < until_ns ? next_ns : until_ns);
        check_second(&world);
        assert_string_equal(world.check.violation, "");
    }
}

/* All is well at `s`; everybody runs, and some time later all hold one version. */
static inline void heal(double s)
{
    run_to(s);
    trouble_end(trouble);
    run_to(s + 20);
    world_rest(&world);
    for (double t = s + 20; t < s + 80 && !world_is_one_version(&world); t += 1)
        run_to(t);
    assert_true(world_is_one_version(&world));
    check_end(&world);
    assert_string_equal(world.check.violation, "");
    for (uint32_t i = 0; i < NODES; i++)
        assert_true(world_is_running(&world, i));
    assert_false(world_is_running(&world, TWIN));
}

static inline void leave_world(void)
{
    trouble_free(trouble);
    world_free(&world);
}

static inline void end_well(double s)
{
    heal(s);
    leave_world();
}

static inline uint64_t seconds(double s)
{
    return (uint64_t)(s * (double)SECOND_NS);
}

static inline struct fault fault(enum fault_kind kind, double from_s, double to_s, uint32_t victim)
{
    struct fault made = {
        .kind = kind, .from_ns = seconds(from_s), .to_ns = seconds(to_s), .seed = 7};
    node_set_add(&made.a, victim);
    return made;
}

static inline uint32_t neighbours(uint32_t i)
{
    struct node_stats stats;
    node_stats(world.nodes[i].node, world_now_ns(&world), &stats);
    return stats.neighbours;
}

static inline uint64_t rumors_of(uint32_t i)
{
    struct node_stats stats;
    node_stats(world.nodes[i].node, world_now_ns(&world), &stats);
    return stats.version;
}

static inline uint64_t wants_of(uint32_t i)
{
    struct node_stats stats;
    node_stats(world.nodes[i].node, world_now_ns(&world), &stats);
    return stats.wants_sent;
}

static inline uint32_t lost_by(uint32_t i)
{
    return world.nodes[i].notes[NOTE_NEIGHBOUR_LOST];
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

#endif
