#include "storm/storm.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "events/u64_set.h"
#include "faults/fault_injector.h"
#include "frame/protocol.h"
#include "storm/storm_learner.h"
#include "storm/storm_plan.h"
#include "storm/storm_starts.h"
#include "storm/storm_votes.h"

#define LOOK_NS (100 * MS_NS)
/* Time in which a leaving node must send BYE and close its connections after its grace time. */
#define LEAVE_NS  (5 * SECOND_NS)
#define PAUSED_NS (100 * MS_NS)
#define WHY_BYTES 200

/* Kinds of events: the `amount` of world_put. Its `subject` is the node. */
enum own_event { START_NODE, LEAVE_NODE, EXPEL_NODE, REKEY, UPGRADE };

struct play {
    struct storm_plan plan;
    struct world world;
    struct fault_injector *injector;
    struct storm_learners *sources;
    struct storm *storm;
    uint64_t learners; /* number of learners made so far */
    /* [node] number of the node's start in which it was told to leave; 0 = not told. */
    uint32_t leaving[STORM_NODES_MAX];
    uint64_t gone_ns[STORM_NODES_MAX]; /* [node] time by which the node must have left */
};

static uint64_t end_of(uint64_t plan_ns)
{
    return WORLD_BEGIN_NS + plan_ns;
}

static void fail(struct play *play, const char *why)
{
    if (!play->storm->why[0])
        (void)snprintf(play->storm->why, sizeof play->storm->why, "%s", why);
}

static void make_sim_learner(void *self, uint32_t i, struct sim_learner *sim_learner)
{
    struct play *play = self;
    const struct storm_plan *plan = &play->plan;
    const uint32_t start = plan->node[i < plan->nodes ? i : plan->twin_of[i - plan->nodes]].start;
    storm_learner_make(play->sources, plan, i, start, ++play->learners, sim_learner);
}

static void leave(struct play *play, uint32_t i)
{
    struct world *world = &play->world;
    const uint64_t paused_ns = world->wire.parties[i].paused_ns;
    if (!world_is_running(world, i))
        return;
    /* A paused process gets the signal to leave after its pause. */
    if (world_now_ns(world) < paused_ns) {
        world_put(world, paused_ns + PAUSED_NS, i, LEAVE_NODE);
        return;
    }
    play->leaving[i] = world->nodes[i].incarnation;
    play->gone_ns[i] = world_now_ns(world) + play->plan.options.grace_ns + LEAVE_NS;
    world_leave(world, i);
}

static void on_user(void *self, uint64_t subject, uint64_t amount)
{
    struct play *play = self;
    const uint32_t i = (uint32_t)subject;
    if (fault_injector_owns(subject))
        fault_injector_on_event(play->injector, subject, amount);
    else if (amount == LEAVE_NODE)
        leave(play, i);
    else if (amount == EXPEL_NODE)
        storm_expulsion_order(&play->plan.expulsion, &play->world);
    else if (amount == REKEY)
        storm_rekey_order(&play->plan.rekey, &play->plan.expulsion, &play->world, false);
    else if (amount == UPGRADE)
        play->world.nodes[i].options.limits.protocol_max = PROTOCOL_NEWEST;
    else if (!world_is_running(&play->world, i))
        world_start(&play->world, i);
}

/* Adds node i, or a spare node with the plan and identity of node i, without starting it. Returns
 * the index of the added node. */
static uint32_t build_node(struct play *play, uint32_t i)
{
    const struct storm_node *node = &play->plan.node[i];
    struct world *world = &play->world;
    struct node_options options = play->plan.options;
    options.trains = node->trains;
    storm_starts_set(&options, node->start);
    options.limits.protocol_max = node->is_older ? PROTOCOL_OLDEST : PROTOCOL_NEWEST;
    options.listen_port = node->dials_only ? 0 : WORLD_PORT;
    const uint32_t at = world_add(world, &options, i, node->region);
    world->nodes[at].step_ns = node->trains ? node->step_ns : 0;
    world->nodes[at].step_samples = node->step_samples;
    for (uint32_t j = 0; j < play->plan.nodes; j++)
        if (node->knows >> j & 1)
            world_introduce(world, at, j);
    return at;
}

static void build_links(struct play *play, uint32_t i)
{
    const struct storm_node *node = &play->plan.node[i];
    struct party *party = &play->world.wire.parties[i];
    party->up = (struct pipe){
        .rate = &node->up, .stall_ns = node->stall_ns, .stall_every_ns = node->stall_every_ns};
    party->down = party->up;
    party->down.rate = &node->down;
}

static void build(struct play *play)
{
    struct world *world = &play->world;
    for (uint32_t i = 0; i < play->plan.nodes; i++) {
        const struct storm_node *node = &play->plan.node[i];
        CHECK(build_node(play, i) == i);
        build_links(play, i);
        world_put(world, end_of(node->start_ns), i, START_NODE);
        if (node->leave_ns)
            world_put(world, end_of(node->leave_ns), i, LEAVE_NODE);
        if (node->upgrade_ns)
            world_put(world, end_of(node->upgrade_ns), i, UPGRADE);
    }
    for (uint32_t i = 0; i < play->plan.twins; i++)
        (void)build_node(play, play->plan.twin_of[i]);
    const struct storm_expulsion *expulsion = &play->plan.expulsion;
    if (expulsion->is_drawn)
        world_put(world, end_of(expulsion->at_ns), expulsion->villain, EXPEL_NODE);
    if (play->plan.rekey.is_drawn)
        world_put(world, end_of(play->plan.rekey.at_ns), 0, REKEY);
}

static struct play *play_new(uint64_t seed, FILE *trace, struct storm *storm)
{
    struct play *play = memory_new(1, sizeof *play);
    struct storm_plan *plan = &play->plan;
    storm_draw(plan, seed);
    play->storm = storm;
    play->sources = storm_learners_new(plan);
    const struct world_options options = {.seed = seed,
                                          .nodes_max = plan->nodes + plan->twins,
                                          .outsiders_max = plan->faults_count,
                                          .paths = plan->paths,
                                          .regions = plan->regions,
                                          .maker = {.self = play, .make = make_sim_learner}};
    world_init(&play->world, &options);
    play->world.trace_file = trace;
    play->world.has_list = plan->options.limits.quarantines;
    play->world.check.trains_well = true;
    for (uint32_t k = 0; k < plan->faults_count; k++)
        if (plan->faults[k].kind == FAULT_POISON)
            play->world.check.trains_well = false;
    play->world.user = play;
    play->world.on_user = on_user;
    build(play);
    play->injector = fault_injector_new(&play->world, plan->faults, plan->faults_count, seed);
    if (trace)
        storm_describe(plan, trace);
    return play;
}

static void play_free(struct play *play)
{
    fault_injector_free(play->injector);
    world_free(&play->world);
    storm_learners_free(play->sources);
    free(play);
}

static bool has_failed(const struct play *play)
{
    return play->world.check.violation[0] || play->storm->why[0];
}

/* Fails if a node still runs LEAVE_NS after its grace time. Exempts nodes that were restarted
 * since, or paused shortly before. */
static void check_leavers(struct play *play)
{
    const struct world *world = &play->world;
    const uint64_t now_ns = world_now_ns(world);
    char why[WHY_BYTES];
    for (uint32_t i = 0; i < play->plan.nodes; i++) {
        const struct world_node *at = &world->nodes[i];
        if (!play->leaving[i] || !at->node || at->incarnation != play->leaving[i] ||
            now_ns < play->gone_ns[i] || now_ns < world->wire.parties[i].paused_ns + LEAVE_NS)
            continue;
        (void)snprintf(why, sizeof why, "5: node %u was told to leave and still runs", i);
        fail(play, why);
    }
}

/* Runs the world with all checks until virtual time until_ns. Returns false after a failure. */
static bool run_until(struct play *play, uint64_t until_ns)
{
    struct world *world = &play->world;
    while (world_now_ns(world) < until_ns && !has_failed(play)) {
        const uint64_t next_ns = (world_now_ns(world) / SECOND_NS + 1) * SECOND_NS;
        world_run_until(world, u64_min(next_ns, until_ns));
        check_second(world);
        check_leavers(play);
    }
    return !has_failed(play);
}

/* Fails with the rumors and neighbours of all running nodes, which shows the node that is behind.
 */
static void fail_versions_differ(struct play *play)
{
    const struct world *world = &play->world;
    char *why = play->storm->why;
    const size_t bytes = sizeof play->storm->why;
    int used = snprintf(why, bytes, "5: not one version after %d s; node:rumors/neighbours",
                        (int)(STORM_HEAL_NS / SECOND_NS));
    for (uint32_t i = 0; i < world->nodes_count && (size_t)used < bytes; i++) {
        if (!world_is_running(world, i))
            continue;
        struct node_stats stats;
        node_stats(world->nodes[i].node, world_now_ns(world), &stats);
        used += snprintf(why + used, bytes - (size_t)used, " %u:%" PRIu64 "/%u", i, stats.version,
                         stats.neighbours);
    }
}

static bool is_poisoned(const struct storm_plan *plan, uint32_t i)
{
    for (uint32_t k = 0; k < plan->faults_count; k++)
        if (plan->faults[k].kind == FAULT_POISON && node_set_has(&plan->faults[k].a, i))
            return true;
    return false;
}

static void check_all_run(struct play *play)
{
    char why[WHY_BYTES];
    for (uint32_t i = 0; i < play->plan.nodes; i++) {
        const bool is_out = play->plan.expulsion.is_drawn && i == play->plan.expulsion.villain;
        if (world_is_running(&play->world, i) || play->leaving[i] || is_out ||
            (is_poisoned(&play->plan, i) && storm_votes_have_expelled(&play->world, i)))
            continue;
        (void)snprintf(why, sizeof why, "node %u does not run after the faults", i);
        fail(play, why);
    }
}

/* Fails with the running nodes whose count of members is wrong. */
static void fail_members_differ(struct play *play)
{
    const struct world *world = &play->world;
    char *why = play->storm->why;
    const size_t bytes = sizeof play->storm->why;
    const uint32_t running = world_running(world);
    int used = snprintf(why, bytes, "5: %u nodes run, and some do not count them; node:members",
                        (unsigned)running);
    for (uint32_t i = 0; i < world->nodes_count && (size_t)used < bytes; i++) {
        if (!world_is_running(world, i))
            continue;
        struct node_stats stats;
        node_stats(world->nodes[i].node, world_now_ns(world), &stats);
        if (stats.members_live != running)
            used += snprintf(why + used, bytes - (size_t)used, " %u:%u", i, stats.members_live);
    }
}

/* Waits until every running node counts exactly the running nodes as members. Fails at
 * STORM_FORGET_NS after from_ns. */
static void wait_for_members(struct play *play, uint64_t from_ns)
{
    struct world *world = &play->world;
    while (!has_failed(play) && !world_is_known(world)) {
        if (world_now_ns(world) - from_ns >= STORM_FORGET_NS)
            fail_members_differ(play);
        run_until(play, world_now_ns(world) + LOOK_NS);
    }
}

/* Waits until all running nodes have the newest swarm key. Fails at STORM_HEAL_NS after from_ns, or
 * if the member that the operator has expelled has that key. */
static void wait_for_key(struct play *play, uint64_t from_ns)
{
    const struct storm_plan *plan = &play->plan;
    while (!has_failed(play) && !storm_rekey_is_done(&plan->rekey, &play->world)) {
        if (world_now_ns(&play->world) - from_ns >= STORM_HEAL_NS)
            fail(play, "5: not all nodes have the last swarm key");
        run_until(play, world_now_ns(&play->world) + LOOK_NS);
    }
    if (plan->expulsion.is_ordered && plan->expulsion.voters == 0 &&
        !storm_rekey_is_kept_from(&plan->rekey, &play->world, plan->expulsion.villain))
        fail(play, "7: a node has a swarm key that was ordered after its expulsion");
}

static void heal(struct play *play)
{
    struct world *world = &play->world;
    const uint64_t from_ns = world_now_ns(world);
    world_rest(world);
    while (!has_failed(play) && !world_is_one_version(world)) {
        if (world_now_ns(world) - from_ns >= STORM_HEAL_NS) {
            fail_versions_differ(play);
            return;
        }
        run_until(play, world_now_ns(world) + LOOK_NS);
    }
    if (has_failed(play))
        return;
    play->storm->heal_s = (double)(world_now_ns(world) - from_ns) * 1e-9;
    check_all_run(play);
    check_end(world);
    wait_for_members(play, from_ns);
    wait_for_key(play, from_ns);
}

/* Nodes that left together must hold one base, but only in a full mesh (leave.c). In a larger
 * swarm, a node may learn too late that another node also leaves. */
static void check_bases(struct play *play, uint32_t together)
{
    if (play->plan.nodes > STORM_MESH_MAX)
        return;
    const size_t bytes = play->plan.parameters * sizeof(int32_t);
    int32_t *first = memory_new(bytes, 1), *units = memory_new(bytes, 1);
    char why[WHY_BYTES];
    uint32_t first_i = WIRE_NOBODY;
    for (uint32_t i = 0; i < play->plan.nodes; i++) {
        if (!(together >> i & 1))
            continue;
        sim_learner_read_units(&play->world.nodes[i].sim_learner,
                               first_i == WIRE_NOBODY ? first : units);
        if (first_i == WIRE_NOBODY)
            first_i = i;
        else if (memcmp(first, units, bytes) != 0) {
            (void)snprintf(why, sizeof why, "3: nodes %u and %u left together with different bases",
                           first_i, i);
            fail(play, why);
        }
    }
    free(first);
    free(units);
}

static void all_leave(struct play *play)
{
    struct world *world = &play->world;
    uint32_t together = 0;
    for (uint32_t i = 0; i < play->plan.nodes; i++) {
        if (!world_is_running(world, i) || node_is_leaving(world->nodes[i].node))
            continue;
        together |= 1u << i;
        leave(play, i);
    }
    if (run_until(play, world_now_ns(world) + play->plan.options.grace_ns + LEAVE_NS + SECOND_NS))
        check_bases(play, together);
}

static void set_verdict(struct play *play)
{
    const struct world *world = &play->world;
    struct storm *storm = play->storm;
    const double at_s = (double)(world_now_ns(world) - WORLD_BEGIN_NS) * 1e-9;
    if (world->check.violation[0])
        (void)snprintf(storm->why, sizeof storm->why, "at %.3f s: %s", at_s,
                       world->check.violation);
    storm->trace = world->trace;
    storm->events = world->event_queue.taken;
    storm->virtual_s = at_s;
    storm->nodes = play->plan.nodes;
    for (uint32_t i = 0; i < play->plan.faults_count; i++)
        storm->faults[play->plan.faults[i].kind]++;
}

void storm_play(uint64_t seed, FILE *trace, struct storm *storm)
{
    const double from_s = sim_learner_cpu_s();
    secret_start();
    *storm = (struct storm){.seed = seed, .heal_s = NAN};
    struct play *play = play_new(seed, trace, storm);
    if (run_until(play, end_of(play->plan.faulty_ns))) {
        fault_injector_end(play->injector);
        if (play->plan.expulsion.is_drawn)
            storm_expulsion_order(&play->plan.expulsion, &play->world);
        if (play->plan.rekey.is_drawn)
            storm_rekey_order(&play->plan.rekey, &play->plan.expulsion, &play->world, true);
        if (run_until(play, world_now_ns(&play->world) + play->plan.calm_ns))
            heal(play);
        if (play->plan.all_leave && !has_failed(play))
            all_leave(play);
    }
    set_verdict(play);
    play_free(play);
    storm->cpu_s = sim_learner_cpu_s() - from_s;
}

bool storm_seed_of(const char *text, uint64_t *seed)
{
    const size_t count = strlen(text);
    const bool is_hex = strncmp(text, "0x", 2) == 0 || strncmp(text, "0X", 2) == 0;
    const char *digits = is_hex ? text + 2 : text;
    if (count == 0)
        return false;
    bool is_number = digits[0] != 0 && strlen(digits) <= (is_hex ? 16 : 19);
    for (const char *at = digits; *at; at++)
        is_number &= is_hex ? isxdigit((unsigned char)*at) != 0 : isdigit((unsigned char)*at) != 0;
    *seed = is_number ? strtoull(digits, NULL, is_hex ? 16 : 10) : u64_set_of(text, count);
    return true;
}
