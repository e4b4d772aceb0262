/* The strategy that this project is: real nodes with real learners in a world, from the first start
 * to one version after training has ended. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "strategy.h"
#include "trouble.h"
#include "world.h"

#define SPARES_MAX     8 /* second processes with one identity, and strangers, at once */
#define OUTSIDERS_MAX  8
#define SETTLE_STEP_NS (SECOND_NS / 20)

enum subject { SUBJECT_START, SUBJECT_LEAVE }; /* amount: the node */

/* Counters of a node that outlive its processes. */
struct past {
    struct node_stats ended;       /* of lives that are over */
    struct node_stats last;        /* as last seen, of this life */
    uint32_t life;                 /* that one */
    uint64_t samples_then;         /* at the last moment ... */
    double up_s_then, down_s_then; /* ... and how long its pipes were busy */
    uint64_t trained_ns;           /* time it was to train */
};

struct gossip {
    struct lab *lab;
    struct outcome *outcome;
    struct world world;
    struct path paths[SCENARIO_REGIONS_MAX][SCENARIO_REGIONS_MAX]; /* the scenario's */
    struct trouble *trouble;
    struct past *past;      /* [nodes] */
    struct node_stats half; /* sums over all nodes, at half time */
    bool has_half;
};

static uint64_t ns_of(const struct gossip *gossip)
{
    return world_now_ns(&gossip->world) - WORLD_BEGIN_NS;
}

/* Building the world. */

static void introduce(struct world *world, uint32_t i)
{
    uint32_t known = 0;
    for (uint32_t j = 0; j < world->nodes_count && known < 2; j++) {
        if (j == i || world->nodes[j].options.listen_port == 0)
            continue;
        world_introduce(world, i, j);
        known++;
    }
}

static void add_node(struct gossip *gossip, uint32_t i)
{
    const struct scenario *scenario = gossip->lab->scenario;
    const struct group *group = scenario_group(scenario, i);
    struct config *config = malloc(sizeof *config);
    CHECK(config);
    scenario_node_config(scenario, i, config);
    struct node_options options = setup_plain_options(config);
    options.swarm_id = scenario->config.node.swarm; /* which outlives the node's own */
    options.model = scenario->made_up ? "made up" : gossip->lab->made.description;
    options.trains = group->samples_per_s > 0;
    options.listen_port = group->dials_only ? 0 : WORLD_PORT;
    options.seeds_count = 0;
    options.advertise = options.listen_port ? world_address(i) : (struct address){0};
    CHECK(world_add(&gossip->world, &options, i + 1, scenario_region(scenario, i)) == i);
    struct world_node *at = &gossip->world.nodes[i];
    if (group->samples_per_s > 0) {
        at->step_samples = config->train.batch;
        at->step_ns =
            (uint64_t)((double)config->train.batch / group->samples_per_s * (double)SECOND_NS);
    }
    struct party *party = &gossip->world.wire.parties[i];
    party->up = party->down =
        (struct pipe){.stall_ns = group->stall_ns, .stall_every_ns = group->stall_every_ns};
    party->up.rate = &group->up;
    party->down.rate = &group->down;
    free(config);
}

static void build(struct gossip *gossip)
{
    struct lab *lab = gossip->lab;
    const struct scenario *scenario = lab->scenario;
    memcpy(gossip->paths, scenario->paths, sizeof gossip->paths);
    const struct world_options options = {
        .seed = scenario->seed,
        .nodes_max = scenario->nodes_count + SPARES_MAX,
        .outsiders_max = OUTSIDERS_MAX,
        .paths = gossip->paths,
        .regions = scenario->regions_count,
        .maker = {.self = lab, .make = lab_mind},
    };
    world_init(&gossip->world, &options);
    gossip->world.trace_file = lab->trace;
    gossip->past = calloc(scenario->nodes_count, sizeof *gossip->past);
    CHECK(gossip->past);
    for (uint32_t i = 0; i < scenario->nodes_count; i++)
        add_node(gossip, i);
    for (uint32_t i = 0; i < scenario->nodes_count; i++) {
        const struct group *group = scenario_group(scenario, i);
        if (i > 0) /* the first node of a swarm knows nobody; when it comes back it does */
            introduce(&gossip->world, i);
        world_put(&gossip->world, WORLD_BEGIN_NS + group->start_ns, SUBJECT_START, i);
        if (group->stop_ns)
            world_put(&gossip->world, WORLD_BEGIN_NS + group->stop_ns, SUBJECT_LEAVE, i);
    }
    gossip->trouble = trouble_new(&gossip->world, scenario->faults, scenario->faults_count,
                                  rng_mix(scenario->seed));
}

static void on_user(void *self, uint64_t subject, uint64_t amount)
{
    struct gossip *gossip = self;
    const uint32_t i = (uint32_t)amount;
    if (trouble_owns(subject)) {
        trouble_on_event(gossip->trouble, subject, amount);
    } else if (subject == SUBJECT_START && !world_is_running(&gossip->world, i)) {
        world_start(&gossip->world, i);
        if (i == 0)
            introduce(&gossip->world, i);
    } else if (subject == SUBJECT_LEAVE && world_is_running(&gossip->world, i)) {
        world_leave(&gossip->world, i);
    }
}

/* Measuring. */

static void add_stats(struct node_stats *sum, const struct node_stats *more)
{
    sum->steps += more->steps;
    sum->samples += more->samples;
    sum->rumors_told += more->rumors_told;
    sum->rumors_heard += more->rumors_heard;
    sum->duplicates += more->duplicates;
    sum->told_bytes += more->told_bytes;
    sum->heard_bytes += more->heard_bytes;
    sum->sent_bytes += more->sent_bytes;
    sum->received_bytes += more->received_bytes;
    sum->control_sent_bytes += more->control_sent_bytes;
}

/* All lives of node i up to now. */
static struct node_stats stats_of(struct gossip *gossip, uint32_t i)
{
    struct past *past = &gossip->past[i];
    const struct world_node *at = &gossip->world.nodes[i];
    if (at->life != past->life) {
        add_stats(&past->ended, &past->last);
        past->life = at->life;
        past->last = (struct node_stats){0};
    }
    if (at->node)
        node_stats(at->node, world_now_ns(&gossip->world), &past->last);
    struct node_stats stats = past->last;
    add_stats(&stats, &past->ended);
    return stats;
}

static double use_of(const struct pipe *pipe, double *then_s, double span_s)
{
    const double busy_s = pipe->busy_s - *then_s;
    *then_s = pipe->busy_s;
    return pipe_is_limited(pipe) && span_s > 0 ? fmin(busy_s / span_s, 1) : NAN;
}

static void measure_node(struct gossip *gossip, uint32_t i, const struct node_stats *stats,
                         uint64_t most, double span_s, struct node_moment *moment)
{
    struct past *past = &gossip->past[i];
    struct party *party = &gossip->world.wire.parties[i];
    const double up = use_of(&party->up, &past->up_s_then, span_s);
    const double down = use_of(&party->down, &past->down_s_then, span_s);
    const uint64_t samples = stats->samples - past->samples_then;
    past->samples_then = stats->samples;
    if (!moment || !gossip->world.nodes[i].node)
        return;
    *moment = (struct node_moment){
        .samples_per_s = span_s > 0 ? (float)((double)samples / span_s) : 0,
        .share = (float)stats->share,
        .lag_s = (float)((double)stats->lag_ns * 1e-9),
        .behind = (float)(most - stats->version),
        .up_use = (float)up,
        .down_use = (float)down,
    };
}

/* The time since then in which nodes were to train: neither before it had begun, nor while the
 * process stood still. */
static void count_time(struct gossip *gossip, uint64_t then_ns)
{
    const uint64_t now_ns = world_now_ns(&gossip->world);
    for (uint32_t i = 0; i < gossip->lab->scenario->nodes_count; i++) {
        const struct world_node *at = &gossip->world.nodes[i];
        const uint64_t paused_ns = gossip->world.wire.parties[i].paused_ns;
        if (!at->node || !at->training || at->ended)
            continue;
        uint64_t from_ns = at->began_ns > then_ns ? at->began_ns : then_ns;
        from_ns = paused_ns > from_ns ? paused_ns : from_ns;
        gossip->past[i].trained_ns += now_ns > from_ns ? now_ns - from_ns : 0;
    }
}

static const float *base_of_first(struct gossip *gossip)
{
    for (uint32_t i = 0; i < gossip->world.nodes_count; i++) {
        struct world_node *at = &gossip->world.nodes[i];
        if (!at->node || !mind_exists(&at->mind) || !at->mind.learner)
            continue;
        mind_read_base(&at->mind, gossip->lab->weights);
        return gossip->lab->weights;
    }
    return NULL;
}

static uint64_t most_known(const struct gossip *gossip, uint64_t *behind, uint32_t *members,
                           uint32_t *running)
{
    uint64_t most = 0, least = UINT64_MAX;
    *members = UINT32_MAX;
    *running = 0;
    for (uint32_t i = 0; i < gossip->world.nodes_count; i++) {
        if (!gossip->world.nodes[i].node)
            continue;
        struct node_stats stats;
        node_stats(gossip->world.nodes[i].node, world_now_ns(&gossip->world), &stats);
        most = stats.version > most ? stats.version : most;
        least = stats.version < least ? stats.version : least;
        *members = stats.members_live < *members ? stats.members_live : *members;
        ++*running;
    }
    *behind = *running ? most - least : 0;
    *members = *running ? *members : 0;
    return most;
}

static void measure(struct gossip *gossip, double span_s)
{
    const struct scenario *scenario = gossip->lab->scenario;
    struct moment *moment = outcome_add(gossip->outcome, (double)ns_of(gossip) * 1e-9);
    struct node_moment *nodes = outcome_nodes(gossip->outcome);
    const uint64_t most = most_known(gossip, &moment->behind, &moment->members, &moment->running);
    struct node_stats sum = {0};
    for (uint32_t i = 0; i < scenario->nodes_count; i++) {
        const struct node_stats stats = stats_of(gossip, i);
        add_stats(&sum, &stats);
        measure_node(gossip, i, &stats, most, span_s, nodes ? &nodes[i] : NULL);
    }
    moment->samples = sum.samples;
    moment->told_bytes = sum.told_bytes;
    moment->sent_bytes = sum.sent_bytes;
    moment->control_bytes = sum.control_sent_bytes;
    moment->rumors = sum.rumors_told;
    moment->in_flight = gossip->world.wire.flying;
    if (!gossip->has_half && 2 * ns_of(gossip) >= scenario->span_ns) {
        gossip->has_half = true;
        gossip->half = sum;
    }
    const float *base =
        lab_is_evaluation(gossip->lab, ns_of(gossip)) ? base_of_first(gossip) : NULL;
    if (base) {
        const struct evaluation evaluation =
            lab_mark(gossip->lab, base, scenario->evaluate_samples);
        lab_enter(moment, &evaluation);
    }
    if (gossip->lab->on_moment)
        gossip->lab->on_moment(gossip->lab->watcher, gossip->outcome,
                               (double)ns_of(gossip) / (double)scenario->span_ns);
}

/* The end. */

static void total_nodes(struct gossip *gossip)
{
    const struct scenario *scenario = gossip->lab->scenario;
    double origins = 0;
    for (uint32_t i = 0; i < scenario->nodes_count; i++) {
        const struct node_stats stats = stats_of(gossip, i);
        const struct world_node *at = &gossip->world.nodes[i];
        const struct party *party = &gossip->world.wire.parties[i];
        struct node_total *total = &gossip->outcome->nodes[i];
        const double span_s = (double)scenario->span_ns * 1e-9;
        total->running = at->node != NULL;
        total->steps = stats.steps;
        total->samples = stats.samples;
        total->steps_possible = at->step_ns ? gossip->past[i].trained_ns / at->step_ns : 0;
        total->share = stats.share;
        total->rumors_told = stats.rumors_told;
        total->rumors_heard = stats.rumors_heard;
        total->duplicates = stats.duplicates;
        total->told_bytes = stats.told_bytes;
        total->heard_bytes = stats.heard_bytes;
        total->sent_bytes = stats.sent_bytes;
        total->received_bytes = stats.received_bytes;
        total->neighbours = stats.neighbours;
        total->up_use = pipe_is_limited(&party->up) ? party->up.busy_s / span_s : NAN;
        total->down_use = pipe_is_limited(&party->down) ? party->down.busy_s / span_s : NAN;
        origins += at->life;
        gossip->outcome->gradient_cpu_s += at->mind.gradient_cpu_s;
    }
    gossip->outcome->origins = origins;
}

static void total_links(struct gossip *gossip)
{
    const struct scenario *scenario = gossip->lab->scenario;
    const struct wire *wire = &gossip->world.wire;
    const uint32_t regions = scenario->regions_count;
    struct outcome *outcome = gossip->outcome;
    outcome->links = calloc((size_t)regions * regions, sizeof *outcome->links);
    CHECK(outcome->links);
    for (uint32_t k = 0; k < regions * regions; k++) {
        const struct crossing *crossing = &wire->crossings[k];
        const struct pipe *pipe = &wire->region_pipes[k];
        if (crossing->bytes == 0)
            continue;
        struct link_total *link = &outcome->links[outcome->links_count++];
        *link = (struct link_total){
            .bytes = crossing->bytes,
            .rate_bytes_per_s = (double)rate_at(pipe->rate, scenario->span_ns),
            .use = pipe_is_limited(pipe) ? pipe->busy_s / ((double)scenario->span_ns * 1e-9) : NAN,
            .delay_s = crossing->delay_s / (double)crossing->bytes,
            .resent = crossing->resent,
        };
        memcpy(link->from, scenario->regions[k / regions], sizeof link->from);
        memcpy(link->to, scenario->regions[k % regions], sizeof link->to);
    }
}

static void total_traffic(struct gossip *gossip)
{
    const struct scenario *scenario = gossip->lab->scenario;
    struct outcome *outcome = gossip->outcome;
    struct node_stats sum = {0};
    for (uint32_t i = 0; i < scenario->nodes_count; i++) {
        const struct node_stats stats = stats_of(gossip, i);
        add_stats(&sum, &stats);
    }
    const double heard = (double)(sum.rumors_heard - gossip->half.rumors_heard);
    const double again = (double)(sum.duplicates - gossip->half.duplicates);
    const double control = (double)(sum.control_sent_bytes - gossip->half.control_sent_bytes);
    outcome->copies = heard > 0 ? (heard + again) / heard : NAN;
    outcome->control_bytes_per_s =
        control / (double)scenario->nodes_count / ((double)scenario->span_ns * 0.5e-9);
}

/* Training has ended: how long until all hold the same? */
static void settle(struct gossip *gossip)
{
    struct world *world = &gossip->world;
    const uint64_t from_ns = world_now_ns(world);
    const uint64_t until_ns = from_ns + gossip->lab->scenario->settle_ns;
    world_rest(world);
    while (!world_is_one_version(world) && world_now_ns(world) < until_ns &&
           !world->check.violation[0])
        world_run_until(world, world_now_ns(world) + SETTLE_STEP_NS);
    if (!world_is_one_version(world))
        return;
    gossip->outcome->one_version_s = (double)(world_now_ns(world) - from_ns) * 1e-9;
    check_end(world);
}

const float *gossip_play(struct lab *lab, struct outcome *outcome)
{
    struct gossip *gossip = calloc(1, sizeof *gossip);
    CHECK(gossip);
    gossip->lab = lab;
    gossip->outcome = outcome;
    build(gossip);
    struct world *world = &gossip->world;
    world->user = gossip;
    world->on_user = on_user;
    const uint64_t end_ns = WORLD_BEGIN_NS + lab->scenario->span_ns;
    while (world_now_ns(world) < end_ns && !world->check.violation[0]) {
        uint64_t next_ns = world_now_ns(world) + SECOND_NS;
        next_ns = next_ns < end_ns ? next_ns : end_ns;
        const uint64_t then_ns = world_now_ns(world);
        world_run_until(world, next_ns);
        check_second(world);
        count_time(gossip, then_ns);
        measure(gossip, (double)(next_ns - then_ns) * 1e-9);
    }
    total_traffic(gossip);
    trouble_end(gossip->trouble);
    settle(gossip);
    measure(gossip, 0);
    total_nodes(gossip);
    total_links(gossip);
    outcome->trace = world->trace;
    outcome->events = world->agenda.taken;
    memcpy(outcome->violation, world->check.violation, sizeof outcome->violation);
    const float *base = base_of_first(gossip);
    trouble_free(gossip->trouble);
    world_free(world);
    free(gossip->past);
    free(gossip);
    return base;
}
