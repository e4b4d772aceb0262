/* Draws the plan of a storm from its seed. Each part has its own random stream, so that a change to
 * one part leaves the other parts unchanged.
 *
 * Every swarm of a plan can recover, because:
 * - Logs hold everything published, so a node that lost its disk can catch up.
 * - Links can carry the swarm's traffic.
 * - The graph of known addresses is connected, and every node can connect to all others.
 * - Gain times beta is below 1, otherwise the base would diverge and wrap.
 * - A node serves its base fast enough for all others to take it over before the end. */
#include "node/broadcast/version.h"
#include "storm/draw.h"
#include "storm/storm_learner.h"
#include "storm/storm_plan.h"
#include "storm/storm_releases.h"
#include "storm/storm_starts.h"

#define TEXT_EACH     10   /* one storm in this many trains on text */
#define RUMOR_BYTES   250  /* largest rumor with density_max entries */
#define CONTROL_BYTES 8000 /* most bytes per second that a node sends besides rumors */
#define SERVING_S     40   /* seconds in which a node must be able to serve its base to all nodes */
#define INCARNATIONS  3    /* typical number of incarnations of a publishing node */

#define EXPEL_EACH 4 /* one storm in this many expels a node */
#define REKEY_EACH 4 /* in one storm in this many the operator changes the swarm key */

enum stream {
    STREAM_SWARM,
    STREAM_NODES,
    STREAM_KNOWS,
    STREAM_LINKS,
    STREAM_TIMES,
    STREAM_FAULTS,
    STREAM_EXPULSION = STREAM_FAULTS + FAULT_POISON,
    STREAM_REKEY,
    STREAM_POISON,
    STREAM_RELEASES,
    STREAM_STARTS
};

static uint32_t draw_count(struct rng *rng)
{
    const uint32_t size = rng_below(rng, 8);
    if (size == 0)
        return 2;
    return (uint32_t)(size == 1 ? between(rng, 17, STORM_NODES_MAX) : between(rng, 3, 16));
}

/* Returns the bytes per second at which one node serves its base to all other nodes in SERVING_S.
 */
static uint64_t serve_least(const struct storm_plan *plan)
{
    const uint64_t entries = plan->options.block_entries;
    const uint64_t blocks = (plan->parameters + entries - 1) / entries;
    const uint64_t version_bytes = (uint64_t)plan->nodes * INCARNATIONS * VERSION_ENTRY_BYTES;
    return plan->nodes * blocks * (entries * sizeof(int32_t) + version_bytes) / SERVING_S;
}

/* Each draw has its own statement, because the order of the draws defines the storm. */
static void draw_limits(struct storm_plan *plan, struct rng *rng)
{
    /* A node may connect to all other nodes and outsiders while older connections close. */
    const uint32_t peers_min = plan->nodes + 8;
    const uint32_t peers_most = peers_min < 24 ? 32 : peers_min + 8;
    struct node_options *options = &plan->options;
    struct node_limits *limits = &options->limits;
    limits->members_max = 128;
    limits->incarnations_max = 1024;
    /* Each BLOCK can list an origin of every publishing node. */
    limits->listed_max = plan->nodes + 2 + (uint32_t)(plan->seed % 8);
    limits->notes_per_s = 10;
    limits->peers_max = (uint32_t)between(rng, peers_min, peers_most);
    limits->half_open_max = (uint32_t)between(rng, 8, 32);
    limits->half_open_per_net_max = (uint32_t)between(rng, 2, 8);
    limits->handshake_ns = between(rng, 5, 10) * SECOND_NS;
    limits->silence_ns = between(rng, 2, 6) * SECOND_NS;
    options->grace_ns = between(rng, 20, 30) * SECOND_NS;
    /* The queue holds at least one message of the largest size. */
    limits->send_queue_bytes = (size_t)(66 << 10) << rng_below(rng, 5);
}

static void draw_options(struct storm_plan *plan, struct rng *rng)
{
    const bool has_gain = one_in(rng, 4);
    static const uint8_t swarm_key[KEY_BYTES] = {1};
    struct node_options *options = &plan->options;
    *options = (struct node_options){
        .swarm_id = "storm",
        .listen_port = WORLD_PORT,
        .trains = true,
        .log_bytes = 2u << 20,
        .gain = has_gain ? 2 : 1,
    };
    options->block_entries = (uint32_t)between_log(rng, 20, 1000);
    options->bytes_per_s = between(rng, 100, 400);
    options->interval_ns = between(rng, 500, 3000) * MS_NS;
    options->steps_min = (uint32_t)between(rng, 0, 8);
    options->beta = has_gain ? 0 : 0.5 * rng_uniform(rng);
    options->withheld = has_gain ? 0 : -1;
    options->partition_s = (double)between_log(rng, 1, 40);
    options->weigh_throughput = !one_in(rng, 4);
    options->save_ns = one_in(rng, 4) ? 0 : between_log(rng, 500, 20000) * MS_NS;
    options->limits.apply_window = (uint32_t)between(rng, 200, 4000);
    draw_limits(plan, rng);
    if (one_in(rng, 2))
        options->serve_bytes_per_s = (uint64_t)between_log(rng, serve_least(plan), 1000000);
    options->swarm_key = swarm_key;
}

static void draw_swarm(struct storm_plan *plan)
{
    struct rng rng = rng_new(plan->seed, STREAM_SWARM);
    plan->nodes = draw_count(&rng);
    plan->regions = (uint32_t)between(&rng, 1, plan->nodes < 6 ? plan->nodes : STORM_REGIONS_MAX);
    plan->learns_text = plan->seed % TEXT_EACH == TEXT_EACH - 3;
    plan->parameters = (uint32_t)between(&rng, 300, 700);
    if (plan->learns_text)
        plan->parameters = storm_gpt_parameters();
    plan->density_max = (uint32_t)between(&rng, 20, 60);
    plan->all_leave = one_in(&rng, 3);
    draw_options(plan, &rng);
}

/* Node 0 trains and accepts connections, so that there is always a swarm to join. */
static void draw_nodes(struct storm_plan *plan)
{
    struct rng rng = rng_new(plan->seed, STREAM_NODES);
    const bool has_relays = one_in(&rng, 2), has_dialers = one_in(&rng, 2);
    for (uint32_t i = 0; i < plan->nodes; i++) {
        struct storm_node *node = &plan->node[i];
        node->region = rng_below(&rng, plan->regions);
        node->trains = !has_relays || i == 0 || !one_in(&rng, 5);
        node->dials_only = has_dialers && i > 0 && one_in(&rng, 4);
        node->step_ns = between_log(&rng, 20, 200) * MS_NS;
        node->step_samples = (uint32_t)between(&rng, 8, 64);
    }
}

/* Returns the last node before node i that accepts connections. */
static uint32_t callable_below(const struct storm_plan *plan, uint32_t i)
{
    while (plan->node[--i].dials_only)
        continue;
    return i;
}

/* Draws the addresses that nodes know, in one of four ways for the whole storm: node 0; the
 * previous node; an earlier node and a random one; or all nodes. Only nodes that accept connections
 * count. */
static void draw_knows(struct storm_plan *plan)
{
    struct rng rng = rng_new(plan->seed, STREAM_KNOWS);
    const uint32_t way = rng_below(&rng, 4);
    for (uint32_t i = 0; i < plan->nodes; i++) {
        uint32_t knows = 0;
        for (uint32_t j = 0; j < plan->nodes && way == 3; j++)
            knows |= (uint32_t)!plan->node[j].dials_only << j;
        if (i > 0 && way == 0)
            knows = 1;
        if (i > 0 && way == 1)
            knows = 1u << callable_below(plan, i);
        if (i > 0 && way == 2)
            knows = 1u << callable_below(plan, 1 + rng_below(&rng, i)) |
                    1u << callable_below(plan, 1 + rng_below(&rng, plan->nodes));
        plan->node[i].knows = knows & ~(1u << i);
    }
}

/* Returns the bytes per second that every link must carry, so that the swarm can spread all rumors.
 */
static uint64_t rate_min(const struct storm_plan *plan)
{
    const uint64_t rumors_per_s =
        plan->nodes * plan->nodes * SECOND_NS / plan->options.interval_ns + 1;
    return CONTROL_BYTES + rumors_per_s * RUMOR_BYTES / 2;
}

static void draw_rate(const struct storm_plan *plan, struct rng *rng, uint64_t low,
                      struct rate *rate)
{
    rate->bytes_per_s = between_log(rng, low, low > 5000000 ? 2 * low : 10000000);
    if (!one_in(rng, 4))
        return;
    rate->changes = 1;
    rate->change[0].at_ns = WORLD_BEGIN_NS + between(rng, 0, plan->faulty_ns);
    rate->change[0].bytes_per_s = between_log(rng, low, 2 * low);
}

static void draw_path(struct storm_plan *plan, struct rng *rng, uint32_t from, uint32_t to)
{
    struct path *path = &plan->paths[from][to];
    const uint64_t most_us = from == to ? 5000 : 300000;
    *path = (struct path){.delay_ns = between_log(rng, 1000, most_us) * 1000};
    /* Most pairs of regions have the same delay in both directions. */
    if (to < from && !one_in(rng, 4))
        path->delay_ns = plan->paths[to][from].delay_ns;
    if (one_in(rng, 2))
        path->jitter_ns = between(rng, 0, path->delay_ns / 2);
    if (one_in(rng, 2))
        path->loss = 0.03 * rng_uniform(rng);
    if (one_in(rng, 8))
        draw_rate(plan, rng, rate_min(plan) * plan->nodes, &path->rate);
}

static void draw_links(struct storm_plan *plan)
{
    struct rng rng = rng_new(plan->seed, STREAM_LINKS);
    for (uint32_t from = 0; from < plan->regions; from++)
        for (uint32_t to = 0; to < plan->regions; to++)
            draw_path(plan, &rng, from, to);
    const bool has_limits = one_in(&rng, 2);
    /* A leaving node that receives nothing would assume that the other nodes stay, and leave with a
     * different base. */
    const bool has_stalls = one_in(&rng, 4) && !plan->all_leave;
    for (uint32_t i = 0; i < plan->nodes; i++) {
        struct storm_node *node = &plan->node[i];
        if (has_limits && one_in(&rng, 2))
            draw_rate(plan, &rng, rate_min(plan), &node->up);
        if (has_limits && one_in(&rng, 2))
            draw_rate(plan, &rng, rate_min(plan), &node->down);
        if (has_stalls && one_in(&rng, 4)) {
            node->stall_ns = between(&rng, 300, 3000) * MS_NS;
            node->stall_every_ns = between(&rng, 10, 20) * SECOND_NS;
        }
    }
}

/* Returns true if node i is node 0, or if another node knows its address and may find no other node
 * without it. */
static bool is_needed(const struct storm_plan *plan, uint32_t i)
{
    for (uint32_t j = 0; j < plan->nodes; j++)
        if (plan->node[j].knows >> i & 1)
            return true;
    return i == 0;
}

static void draw_times(struct storm_plan *plan)
{
    struct rng rng = rng_new(plan->seed, STREAM_TIMES);
    plan->faulty_ns = between(&rng, 30, one_in(&rng, 16) ? 75 : 45) * SECOND_NS;
    plan->calm_ns = between(&rng, 5, 12) * SECOND_NS;
    const bool has_late = one_in(&rng, 2), has_crowd = one_in(&rng, 4),
               has_leavers = one_in(&rng, 4);
    const uint64_t crowd_ns = between(&rng, 5, 25) * SECOND_NS;
    for (uint32_t i = 0; i < plan->nodes; i++) {
        struct storm_node *node = &plan->node[i];
        node->start_ns = between(&rng, 0, 500) * MS_NS;
        if (i > 0 && has_crowd && one_in(&rng, 2))
            node->start_ns = crowd_ns + between(&rng, 0, 100) * MS_NS;
        else if (i > 0 && has_late && one_in(&rng, 3))
            node->start_ns = between(&rng, 3000, 28000) * MS_NS;
        if (has_leavers && one_in(&rng, 3) && !is_needed(plan, i))
            node->leave_ns = node->start_ns + between(&rng, 100, 25000) * MS_NS;
    }
}

/* Draws two nonempty sides of a fault: each node on a random side, or one node against all others.
 */
static void draw_sides(const struct storm_plan *plan, struct rng *rng, struct fault *fault,
                       uint32_t alone)
{
    const bool halves = one_in(rng, 2);
    for (uint32_t i = 0; i < plan->nodes; i++) {
        const bool in_a = halves && i != (alone + 1) % plan->nodes && one_in(rng, 2);
        node_set_add(i == alone || in_a ? &fault->a : &fault->b, i);
    }
}

static uint64_t draw_span_ns(struct rng *rng, enum fault_kind kind)
{
    static const uint32_t spans[FAULT_KINDS][2] = {
        [FAULT_CRASH] = {100, 20000},
        [FAULT_PAUSE] = {10, 60000},
        [FAULT_PARTITION] = {500, 30000},
        [FAULT_CLOG] = {1000, 20000},
        [FAULT_RESET] = {1, 1},
        [FAULT_HALF_OPEN] = {1, 1},
        [FAULT_SLOW_READER] = {500, 30000},
        [FAULT_FRAGMENT] = {5000, 30000},
        [FAULT_TAMPER] = {1000, 15000},
        [FAULT_CLOCK] = {1, 1},
        [FAULT_DUPLICATE] = {2000, 15000},
        [FAULT_WRONG_KEY] = {2000, 20000},
        [FAULT_HOSTILE] = {5000, 30000},
        [FAULT_MUTE] = {3000, 30000},
        [FAULT_CHURN] = {10000, 25000},
        [FAULT_POISON] = {1000, 40000},
    };
    return between_log(rng, spans[kind][0], spans[kind][1]) * MS_NS;
}

/* Draws a jump of a clock, in seconds. A jump back is shorter than the time between two starts of a
 * node. So the node's next incarnation has a higher number even if the node has lost its disk. */
static double draw_jump_s(struct rng *rng)
{
    return one_in(rng, 2) ? -0.3 * rng_uniform(rng) : (double)between_log(rng, 1, 30000000);
}

/* Draws a kind of poison, except flipped labels, which a storm's learners do not have. The strength
 * is far too low to make the base wrap. */
static void draw_poison(struct rng *rng, struct fault *fault)
{
    fault->poison = (enum poison)(POISON_LABELS + 1 + rng_below(rng, POISONS - 1));
    fault->value = poison_value(fault->poison) * (0.3 + 2 * rng_uniform(rng));
}

static void draw_fault(struct storm_plan *plan, struct rng *rng, enum fault_kind kind)
{
    struct fault *fault = &plan->faults[plan->faults_count++];
    const uint64_t last_ns = plan->faulty_ns - SECOND_NS;
    *fault = (struct fault){.kind = kind, .from_ns = between(rng, SECOND_NS, last_ns)};
    fault->seed = rng_next(rng);
    fault->to_ns = fault->from_ns + draw_span_ns(rng, kind);
    fault->to_ns = u64_min(fault->to_ns, plan->faulty_ns);
    const uint32_t node = rng_below(rng, plan->nodes);
    if (kind == FAULT_PARTITION || kind == FAULT_RESET)
        draw_sides(plan, rng, fault, node);
    else
        node_set_add(&fault->a, node);
    switch (kind) {
    case FAULT_CRASH:
        fault->disk = (enum fault_disk)rng_below(rng, FAULT_DISK_LOST + 1);
        fault->value = rng_below(rng, 2);
        fault->actions = one_in(rng, 2) ? (uint32_t)between_log(rng, 1, 300) : 0;
        break;
    case FAULT_DUPLICATE:
        plan->twin_of[plan->twins++] = node;
        break;
    case FAULT_PARTITION:
        fault->one_way = one_in(rng, 4);
        fault->every_ns = one_in(rng, 4) ? between(rng, 500, 8000) * MS_NS : 0;
        break;
    case FAULT_CLOCK:
        fault->value = draw_jump_s(rng);
        break;
    case FAULT_CHURN:
        for (uint32_t i = 0; i < plan->nodes; i++)
            node_set_add(&fault->a, i);
        fault->every_ns = between(rng, 3000, 10000) * MS_NS;
        fault->disk = (enum fault_disk)rng_below(rng, FAULT_DISK_LOST + 1);
        fault->away_ns = between(rng, 500, 5000) * MS_NS;
        break;
    case FAULT_POISON:
        draw_poison(rng, fault);
        break;
    default:
        break;
    }
}

/* Adds a crash of a node whose address a late joiner knows, at a time when that node may be sending
 * its base to the joiner. */
static void draw_dying_donor(struct storm_plan *plan, struct rng *rng)
{
    for (uint32_t i = 0; i < plan->nodes; i++) {
        const struct storm_node *node = &plan->node[i];
        if (node->start_ns < SECOND_NS || !node->knows || !one_in(rng, 2))
            continue;
        struct fault *fault = &plan->faults[plan->faults_count++];
        *fault = (struct fault){.kind = FAULT_CRASH, .seed = rng_next(rng)};
        fault->from_ns = node->start_ns + between(rng, 10, 3000) * MS_NS;
        fault->to_ns = fault->from_ns + between(rng, 1000, 15000) * MS_NS;
        fault->to_ns = u64_min(fault->to_ns, plan->faulty_ns);
        for (uint32_t j = 0; j < plan->nodes; j++)
            if (node->knows >> j & 1)
                node_set_add(&fault->a, j);
        fault->any = true;
        return;
    }
}

static void draw_faults(struct storm_plan *plan)
{
    /* No FAULT_RUIN: it breaks training on data, and few storms train on data. */
    for (int kind = 0; kind < FAULT_RUIN; kind++) {
        const uint64_t stream =
            kind == FAULT_POISON ? STREAM_POISON : STREAM_FAULTS + (uint64_t)kind;
        struct rng rng = rng_new(plan->seed, stream);
        if (one_in(&rng, 2))
            continue;
        for (uint64_t left = between(&rng, 1, STORM_EACH_MAX); left > 0; left--)
            draw_fault(plan, &rng, (enum fault_kind)kind);
        if (kind == FAULT_CRASH)
            draw_dying_donor(plan, &rng);
    }
}

static void draw_expulsion(struct storm_plan *plan)
{
    struct rng rng = rng_new(plan->seed, STREAM_EXPULSION);
    struct storm_expulsion *expulsion = &plan->expulsion;
    const bool is_wanted = one_in(&rng, EXPEL_EACH) && plan->nodes > 2;
    expulsion->villain = rng_below(&rng, plan->nodes);
    expulsion->at_ns = between(&rng, 5000, plan->faulty_ns / MS_NS) * MS_NS;
    expulsion->is_since = one_in(&rng, 2);
    expulsion->is_drawn = is_wanted && !is_needed(plan, expulsion->villain);
    expulsion->voters = one_in(&rng, 2) ? plan->nodes : 0;
    storm_expulsion_prepare_for(expulsion, &plan->options);
    for (uint32_t i = 1; i < plan->nodes && plan->options.limits.quarantines; i++) {
        plan->node[i].step_ns =
            plan->node[0].step_ns; /* with unequal steps, votes would expel some nodes */
        plan->node[i].step_samples = plan->node[0].step_samples;
    }
}

static void draw_rekey(struct storm_plan *plan)
{
    struct rng rng = rng_new(plan->seed, STREAM_REKEY);
    plan->rekey.is_drawn = one_in(&rng, REKEY_EACH);
    plan->rekey.at_ns = between(&rng, 2000, plan->faulty_ns / MS_NS) * MS_NS;
    if (plan->rekey.is_drawn)
        storm_expulsion_prepare(&plan->options);
}

void storm_draw(struct storm_plan *plan, uint64_t seed)
{
    *plan = (struct storm_plan){.seed = seed};
    draw_swarm(plan);
    draw_nodes(plan);
    draw_knows(plan);
    draw_times(plan);
    draw_links(plan);
    draw_faults(plan);
    draw_expulsion(plan);
    draw_rekey(plan);
    storm_releases_draw(plan, rng_new(plan->seed, STREAM_RELEASES));
    storm_starts_draw(plan, rng_new(plan->seed, STREAM_STARTS));
}

static void describe_set(const struct storm_plan *plan, const struct node_set *set, FILE *out)
{
    for (uint32_t i = 0; i < plan->nodes; i++)
        if (node_set_has(set, i))
            (void)fprintf(out, " %u", i);
}

static void describe_node(const struct storm_plan *plan, uint32_t i, FILE *out)
{
    const struct storm_node *node = &plan->node[i];
    (void)fprintf(out, "# node %u: region %u, from %.3f s, ", i, node->region,
                  (double)node->start_ns * 1e-9);
    if (node->leave_ns)
        (void)fprintf(out, "leaves at %.3f s, ", (double)node->leave_ns * 1e-9);
    if (node->trains)
        (void)fprintf(out, "step %.0f ms, ", (double)node->step_ns * 1e-6);
    if (node->stall_ns)
        (void)fprintf(out, "stall %.1f s every %.0f s, ", (double)node->stall_ns * 1e-9,
                      (double)node->stall_every_ns * 1e-9);
    storm_releases_describe(node, out);
    storm_starts_describe(node, out);
    (void)fprintf(out, "%sup %.0f kB/s, down %.0f kB/s, knows",
                  node->dials_only ? "dials only, " : "", (double)node->up.bytes_per_s * 1e-3,
                  (double)node->down.bytes_per_s * 1e-3);
    describe_set(plan, &(struct node_set){{node->knows}}, out);
    (void)fputc('\n', out);
}

static void describe_fault(const struct storm_plan *plan, const struct fault *fault, FILE *out)
{
    (void)fprintf(out, "# %s from %.3f to %.3f s:%s", fault_name(fault->kind),
                  (double)(WORLD_BEGIN_NS + fault->from_ns) * 1e-9,
                  (double)(WORLD_BEGIN_NS + fault->to_ns) * 1e-9, fault->any ? " one of" : "");
    describe_set(plan, &fault->a, out);
    if (fault->kind == FAULT_PARTITION || fault->kind == FAULT_RESET)
        (void)fprintf(out, fault->one_way ? " >" : " |");
    describe_set(plan, &fault->b, out);
    if (fault->every_ns)
        (void)fprintf(out, ", every %.1f s", (double)fault->every_ns * 1e-9);
    if (fault->kind == FAULT_POISON)
        (void)fprintf(out, ", %s", poison_name(fault->poison));
    if (fault->value != 0)
        (void)fprintf(out, ", %g", fault->value);
    (void)fputc('\n', out);
}

void storm_describe(const struct storm_plan *plan, FILE *out)
{
    (void)fprintf(out,
                  "# %u nodes in %u regions, published every %.1f s; faults for %.0f s, then "
                  "calm for %.0f s%s%s\n",
                  plan->nodes, plan->regions, (double)plan->options.interval_ns * 1e-9,
                  (double)plan->faulty_ns * 1e-9, (double)plan->calm_ns * 1e-9,
                  plan->all_leave ? ", then all leave" : "",
                  plan->learns_text ? "; a GPT learns" : "");
    for (uint32_t i = 0; i < plan->nodes; i++)
        describe_node(plan, i, out);
    for (uint32_t from = 0; from < plan->regions; from++)
        for (uint32_t to = 0; to < plan->regions; to++)
            (void)fprintf(out, "# region %u to %u: %.1f ms, jitter %.1f ms, loss %.1f %%\n", from,
                          to, (double)plan->paths[from][to].delay_ns * 1e-6,
                          (double)plan->paths[from][to].jitter_ns * 1e-6,
                          plan->paths[from][to].loss * 100);
    for (uint32_t i = 0; i < plan->faults_count; i++)
        describe_fault(plan, &plan->faults[i], out);
    if (plan->rekey.is_drawn)
        (void)fprintf(out, "# the operator orders another key at %.3f s\n",
                      (double)(WORLD_BEGIN_NS + plan->rekey.at_ns) * 1e-9);
    storm_expulsion_describe(&plan->expulsion, out);
}
