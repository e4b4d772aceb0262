/* Plays hearsay's own strategy: real nodes with real learners in a simulated world. The play ends
 * after training, when all nodes have one version of the base or settle_ns has passed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "faults/fault_injector.h"
#include "faults/health.h"
#include "strategies/consensus.h"
#include "strategies/edges.h"
#include "strategies/strategy.h"
#include "strategies/traffic.h"
#include "world/lifetime.h"
#include "world/world.h"

#define OUTSIDERS_MAX 8
#define SLICE_NS      (SECOND_NS / 20)

/* Subjects for world_put. The amount is the node's index. */
enum subject { SUBJECT_START, SUBJECT_LEAVE };

struct gossip {
    struct experiment *experiment;
    struct outcome *outcome;
    struct world world;
    struct path paths[SCENARIO_REGIONS_MAX][SCENARIO_REGIONS_MAX]; /* [from][to] */
    struct fault_injector *injector;
    struct health health;
    uint32_t twin_of[SCENARIO_TWINS_MAX]; /* [k] index of the node that spare node k duplicates */
    struct lifetime *lifetimes;           /* [nodes] */
    struct node_stats at_half; /* counters summed over all nodes, at half of the training time */
    bool has_half;
};

static uint64_t ns_of(const struct gossip *gossip)
{
    return world_now_ns(&gossip->world) - WORLD_BEGIN_NS;
}

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

/* Returns true if the node lies at some time. Then its program does not check its labels. */
static bool is_poisoner(const struct scenario *scenario, uint32_t i)
{
    bool is = false;
    for (uint32_t k = 0; k < scenario->faults_count; k++)
        is = is ||
             (scenario->faults[k].kind == FAULT_POISON && node_set_has(&scenario->faults[k].a, i));
    return is;
}

static void add_node(struct gossip *gossip, uint32_t i)
{
    const struct scenario *scenario = gossip->experiment->scenario;
    const struct group *group = scenario_group(scenario, i);
    struct config *config = memory_new(1, sizeof *config);
    scenario_node_config(scenario, i, config);
    struct node_options options =
        setup_plain_options(config, experiment_parameters(gossip->experiment));
    /* The scenario's text outlives `config`, which is freed below. */
    options.swarm_id = scenario->config.node.swarm;
    options.model = scenario->made_up ? "made up" : gossip->experiment->made.description;
    options.trains = group->samples_per_s > 0;
    options.listen_port = group->dials_only ? 0 : WORLD_PORT;
    options.seeds_count = 0;
    options.limits.quarantines = scenario->quarantines;
    options.has_tests = true;
    options.checks_labels = options.checks_labels && !is_poisoner(scenario, i);
    options.advertise = options.listen_port ? world_address(i) : (struct address){0};
    CHECK(world_add(&gossip->world, &options, i + 1, scenario_region(scenario, i)) == i);
    struct world_node *at = &gossip->world.nodes[i];
    if (group->samples_per_s > 0) {
        const uint32_t batch =
            config->train.batch == CONFIG_AUTO ? BATCH_SIZE_START : config->train.batch;
        at->step_samples = batch;
        at->step_ns = (uint64_t)((double)batch / group->samples_per_s * (double)SECOND_NS);
        at->sample_ns = (double)SECOND_NS / group->samples_per_s;
        if (!scenario->made_up)
            at->batch_size = setup_batch_size(config, gossip->experiment->made.model);
    }
    struct party *party = &gossip->world.wire.parties[i];
    party->up = party->down = (struct pipe){.origin_ns = WORLD_BEGIN_NS,
                                            .stall_ns = group->stall_ns,
                                            .stall_every_ns = group->stall_every_ns};
    party->up.rate = &group->up;
    party->down.rate = &group->down;
    free(config);
}

/* A duplicate trains on the shard of its original node. */
static void make_sim_learner(void *self, uint32_t i, struct sim_learner *sim_learner)
{
    struct gossip *gossip = self;
    const uint32_t nodes = gossip->experiment->scenario->nodes_count;
    experiment_make_learner(gossip->experiment, i < nodes ? i : gossip->twin_of[i - nodes],
                            sim_learner);
}

/* Adds a spare node with the identity of node i for every node i that a fault line duplicates. */
static void add_twins(struct gossip *gossip)
{
    const struct scenario *scenario = gossip->experiment->scenario;
    struct world *world = &gossip->world;
    for (uint32_t k = 0; k < scenario->faults_count; k++) {
        const struct fault *fault = &scenario->faults[k];
        for (uint32_t i = 0; i < scenario->nodes_count; i++) {
            if (fault->kind != FAULT_DUPLICATE || !node_set_has(&fault->a, i))
                continue;
            gossip->twin_of[world->nodes_count - scenario->nodes_count] = i;
            const struct world_node *from = &world->nodes[i];
            const uint32_t twin =
                world_add(world, &from->options, i + 1, scenario_region(scenario, i));
            struct world_node *at = &world->nodes[twin];
            at->step_samples = from->step_samples;
            at->step_ns = from->step_ns;
            at->sample_ns = from->sample_ns;
            at->batch_size = from->batch_size;
            at->options.advertise =
                at->options.listen_port ? world_address(twin) : (struct address){0};
            struct party *party = &world->wire.parties[twin];
            party->up.origin_ns = party->down.origin_ns = WORLD_BEGIN_NS;
            party->up.rate = &scenario_group(scenario, i)->up;
            party->down.rate = &scenario_group(scenario, i)->down;
        }
    }
}

static void build(struct gossip *gossip)
{
    struct experiment *experiment = gossip->experiment;
    const struct scenario *scenario = experiment->scenario;
    memcpy(gossip->paths, scenario->paths, sizeof gossip->paths);
    const struct world_options options = {
        .seed = scenario->seed,
        .nodes_max = scenario->nodes_count + SCENARIO_TWINS_MAX,
        .outsiders_max = OUTSIDERS_MAX,
        .paths = gossip->paths,
        .regions = scenario->regions_count,
        .maker = {.self = gossip, .make = make_sim_learner},
    };
    world_init(&gossip->world, &options);
    for (uint32_t k = 0; k < scenario->regions_count * scenario->regions_count; k++)
        gossip->world.wire.region_pipes[k].origin_ns = WORLD_BEGIN_NS;
    gossip->world.trace_file = experiment->trace;
    gossip->world.has_list = scenario->quarantines;
    gossip->lifetimes = memory_new(scenario->nodes_count, sizeof *gossip->lifetimes);
    for (uint32_t i = 0; i < scenario->nodes_count; i++) {
        add_node(gossip, i);
        lifetime_init(&gossip->lifetimes[i]);
    }
    for (uint32_t i = 0; i < scenario->nodes_count; i++) {
        const struct group *group = scenario_group(scenario, i);
        if (i > 0) /* the first node knows no address at its first start */
            introduce(&gossip->world, i);
        world_put(&gossip->world, WORLD_BEGIN_NS + group->start_ns, SUBJECT_START, i);
        if (group->stop_ns)
            world_put(&gossip->world, WORLD_BEGIN_NS + group->stop_ns, SUBJECT_LEAVE, i);
    }
    add_twins(gossip);
    gossip->injector = fault_injector_new(&gossip->world, scenario->faults, scenario->faults_count,
                                          rng_mix(scenario->seed));
    health_init(&gossip->health, &gossip->world, gossip->injector, scenario->nodes_count);
}

static void on_note(void *self, uint32_t i, const struct note *note)
{
    struct gossip *gossip = self;
    health_on_note(&gossip->health, i, note);
    if (note->kind == NOTE_TRAINING && note->level >= LEVEL_WARNING &&
        i < gossip->experiment->scenario->nodes_count)
        outcome_alarm(gossip->outcome, (double)ns_of(gossip) * 1e-9, gossip->outcome->nodes[i].name,
                      note->text);
}

static void on_user(void *self, uint64_t subject, uint64_t amount)
{
    struct gossip *gossip = self;
    const uint32_t i = (uint32_t)amount;
    if (fault_injector_owns(subject)) {
        fault_injector_on_event(gossip->injector, subject, amount);
    } else if (subject == SUBJECT_START && !world_is_running(&gossip->world, i)) {
        world_start(&gossip->world, i);
        if (i == 0)
            introduce(&gossip->world, i);
    } else if (subject == SUBJECT_LEAVE && world_is_running(&gossip->world, i)) {
        world_leave(&gossip->world, i);
    }
}

static struct node_stats stats_of(struct gossip *gossip, uint32_t i)
{
    return lifetime_stats(&gossip->lifetimes[i], &gossip->world, i);
}

static void measure_node(struct gossip *gossip, uint32_t i, const struct node_stats *stats,
                         uint64_t most, double span_s, struct node_moment *moment)
{
    struct lifetime *lifetime = &gossip->lifetimes[i];
    struct party *party = &gossip->world.wire.parties[i];
    const double up = traffic_use(&party->up, &lifetime->up_s_then, span_s);
    const double down = traffic_use(&party->down, &lifetime->down_s_then, span_s);
    const uint64_t samples = stats->samples - lifetime->samples_then;
    const uint64_t published = stats->rumor_bytes_published - lifetime->published_then;
    lifetime->samples_then = stats->samples;
    lifetime->published_then = stats->rumor_bytes_published;
    if (!moment || !gossip->world.nodes[i].node)
        return;
    *moment = (struct node_moment){
        .samples_per_s = span_s > 0 ? (float)((double)samples / span_s) : NAN,
        .share = (float)stats->share,
        .lag_s = (float)((double)stats->lag_ns * 1e-9),
        .behind = (float)(most - stats->version),
        .up_use = (float)up,
        .down_use = (float)down,
        .rumor_bytes_published = (float)published,
        .accuracy = NAN,
    };
}

/* Adds to each node's trained_ns the time since then_ns, except pauses and the time before its
 * training began. */
static void count_time(struct gossip *gossip, uint64_t then_ns)
{
    const uint64_t now_ns = world_now_ns(&gossip->world);
    for (uint32_t i = 0; i < gossip->experiment->scenario->nodes_count; i++) {
        const struct world_node *at = &gossip->world.nodes[i];
        const uint64_t paused_ns = gossip->world.wire.parties[i].paused_ns;
        if (!at->node || !at->training || at->ended)
            continue;
        const uint64_t from_ns = u64_max(u64_max(at->began_ns, then_ns), paused_ns);
        gossip->lifetimes[i].trained_ns += now_ns > from_ns ? now_ns - from_ns : 0;
    }
}

static const float *base_of_first(struct gossip *gossip)
{
    for (uint32_t i = 0; i < gossip->world.nodes_count; i++) {
        struct world_node *at = &gossip->world.nodes[i];
        if (!at->node || !sim_learner_exists(&at->sim_learner) || !at->sim_learner.learner)
            continue;
        sim_learner_read_base(&at->sim_learner, gossip->experiment->weights);
        return gossip->experiment->weights;
    }
    return NULL;
}

static double accuracy_of(struct gossip *gossip, uint32_t i)
{
    struct experiment *experiment = gossip->experiment;
    sim_learner_read_base(&gossip->world.nodes[i].sim_learner, experiment->weights);
    const struct evaluation evaluation =
        experiment_mark(experiment, experiment->weights, experiment->scenario->evaluate_samples);
    return evaluation_accuracy(&evaluation);
}

/* Measures the accuracy of each training node's base. Evaluates equal bases once. */
static void measure_accuracies(struct gossip *gossip, struct node_moment *nodes)
{
    const uint32_t count = gossip->experiment->scenario->nodes_count;
    struct u64_set measured = {0};
    for (uint32_t i = 0; i < count; i++) {
        const struct world_node *at = &gossip->world.nodes[i];
        if (!at->node || !at->training || !at->sim_learner.learner)
            continue;
        uint64_t none = 0, *known = &none;
        if (!node_is_catching_up(at->node) && node_waiting(at->node) == 0)
            known = u64_set_put(&measured, node_digest(at->node) | 1);
        nodes[i].accuracy = *known ? nodes[*known - 1].accuracy : (float)accuracy_of(gossip, i);
        *known = i + 1;
    }
    u64_set_free(&measured);
}

static double distance_now(struct gossip *gossip)
{
    const size_t parameters = experiment_parameters(gossip->experiment);
    struct consensus *consensus = consensus_new(parameters);
    float *weights = memory_new(parameters, sizeof *weights);
    for (uint32_t i = 0; i < gossip->world.nodes_count; i++) {
        const struct world_node *at = &gossip->world.nodes[i];
        if (!at->node || !at->training || !at->sim_learner.learner)
            continue;
        sim_learner_read_weights(&at->sim_learner, weights);
        consensus_add(consensus, weights);
    }
    free(weights);
    return consensus_distance(consensus);
}

static uint64_t most_known(const struct gossip *gossip, struct moment *moment)
{
    uint64_t most = 0, least = UINT64_MAX;
    uint32_t members = UINT32_MAX;
    for (uint32_t i = 0; i < gossip->world.nodes_count; i++) {
        if (!gossip->world.nodes[i].node)
            continue;
        struct node_stats stats;
        node_stats(gossip->world.nodes[i].node, world_now_ns(&gossip->world), &stats);
        most = u64_max(stats.version, most);
        least = u64_min(stats.version, least);
        members = u32_min(stats.members_live, members);
        moment->joined += health_has_joined(&gossip->health, i);
        moment->running++;
    }
    moment->behind = moment->running ? most - least : 0;
    moment->members = moment->running ? members : 0;
    return most;
}

static void measure(struct gossip *gossip, double span_s)
{
    const struct scenario *scenario = gossip->experiment->scenario;
    struct moment *moment = outcome_add(gossip->outcome, (double)ns_of(gossip) * 1e-9);
    struct node_moment *nodes = outcome_nodes(gossip->outcome);
    const uint64_t most = most_known(gossip, moment);
    struct node_stats sum = {0};
    for (uint32_t i = 0; i < scenario->nodes_count; i++) {
        const struct node_stats stats = stats_of(gossip, i);
        lifetime_add(&sum, &stats);
        measure_node(gossip, i, &stats, most, span_s, nodes ? &nodes[i] : NULL);
    }
    moment->samples = sum.samples;
    moment->rumor_bytes_published = sum.rumor_bytes_published;
    moment->sent_bytes = sum.sent_bytes;
    moment->control_bytes = sum.control_sent_bytes;
    moment->rumors = sum.rumors_published;
    moment->in_flight = gossip->world.wire.flying;
    moment->components = health_components(&gossip->health);
    if (!gossip->has_half && 2 * ns_of(gossip) >= scenario->span_ns) {
        gossip->has_half = true;
        gossip->at_half = sum;
    }
    const float *base =
        experiment_is_evaluation(gossip->experiment, ns_of(gossip)) ? base_of_first(gossip) : NULL;
    if (base) {
        moment->distance = distance_now(gossip);
        experiment_evaluate(gossip->experiment, gossip->outcome, ns_of(gossip), base);
    }
    if (base && nodes && outcome_wants_nodes(scenario, ns_of(gossip)))
        measure_accuracies(gossip, nodes);
    experiment_show(gossip->experiment, gossip->outcome, ns_of(gossip));
}

/* Returns how many steps the node's speed allows in trained_ns nanoseconds. If its batch size
 * varies, divides the possible samples by the mean batch. */
static uint64_t steps_possible(const struct world_node *at, const struct node_stats *stats,
                               uint64_t trained_ns)
{
    if (at->step_ns == 0)
        return 0;
    if (at->batch_size.step_ns == 0 || stats->samples == 0)
        return trained_ns / at->step_ns;
    return (uint64_t)((double)stats->steps * (double)trained_ns /
                      ((double)stats->samples * at->sample_ns));
}

static void total_nodes(struct gossip *gossip)
{
    const struct scenario *scenario = gossip->experiment->scenario;
    double origins = 0;
    for (uint32_t i = 0; i < scenario->nodes_count; i++) {
        const struct node_stats stats = stats_of(gossip, i);
        const struct world_node *at = &gossip->world.nodes[i];
        const struct party *party = &gossip->world.wire.parties[i];
        struct node_total *total = &gossip->outcome->nodes[i];
        const double span_s = outcome_span_s(gossip->outcome);
        total->running = at->node != NULL;
        total->steps = stats.steps;
        total->samples = stats.samples;
        total->steps_possible = steps_possible(at, &stats, gossip->lifetimes[i].trained_ns);
        total->share = stats.share;
        total->rumors_published = stats.rumors_published;
        total->rumors_received = stats.rumors_received;
        total->duplicates = stats.duplicates;
        total->rumor_bytes_published = stats.rumor_bytes_published;
        total->rumor_bytes_received = stats.rumor_bytes_received;
        total->sent_bytes = stats.sent_bytes;
        total->received_bytes = stats.received_bytes;
        total->neighbours = stats.neighbours;
        total->block_bytes = gossip->lifetimes[i].block_bytes;
        total->joining_s = gossip->lifetimes[i].joining_s;
        total->warnings = gossip->health.warnings[i];
        traffic_total_node(total, party, span_s);
        origins += at->incarnation;
        gossip->outcome->gradient_cpu_s += at->sim_learner.gradient_cpu_s;
    }
    gossip->outcome->base_bytes = experiment_parameters(gossip->experiment) * sizeof(int32_t);
    gossip->outcome->origins = origins;
}

static void total_traffic(struct gossip *gossip)
{
    const struct scenario *scenario = gossip->experiment->scenario;
    struct outcome *outcome = gossip->outcome;
    struct node_stats sum = {0};
    for (uint32_t i = 0; i < scenario->nodes_count; i++) {
        const struct node_stats stats = stats_of(gossip, i);
        lifetime_add(&sum, &stats);
    }
    const double received = (double)(sum.rumors_received - gossip->at_half.rumors_received);
    const double again = (double)(sum.duplicates - gossip->at_half.duplicates);
    const double control = (double)(sum.control_sent_bytes - gossip->at_half.control_sent_bytes);
    outcome->copies = received > 0 ? (received + again) / received : NAN;
    outcome->control_bytes_per_s =
        control / (double)scenario->nodes_count / ((double)scenario->span_ns * 0.5e-9);
}

static void total_removed(struct gossip *gossip)
{
    struct outcome *outcome = gossip->outcome;
    const struct health *health = &gossip->health;
    outcome->removed = health->removed;
    if (health->removed > 0)
        (void)snprintf(outcome->removed_text, sizeof outcome->removed_text, "%s by %s at %.1f s",
                       outcome->nodes[health->removed_node].name,
                       outcome->nodes[health->removed_by].name,
                       (double)(health->removed_ns - WORLD_BEGIN_NS) * 1e-9);
}

/* Runs the world in short slices, so that an interruption is noticed soon. */
static void run_until(struct gossip *gossip, uint64_t until_ns)
{
    struct world *world = &gossip->world;
    while (world_now_ns(world) < until_ns && !world->check.violation[0] &&
           !experiment_is_stopped(gossip->experiment)) {
        const uint64_t next_ns = world_now_ns(world) + SLICE_NS;
        world_run_until(world, u64_min(next_ns, until_ns));
    }
}

static void train(struct gossip *gossip)
{
    const struct world *world = &gossip->world;
    const uint64_t end_ns = WORLD_BEGIN_NS + gossip->experiment->scenario->span_ns;
    while (world_now_ns(world) < end_ns && !world->check.violation[0] &&
           !experiment_is_stopped(gossip->experiment)) {
        const uint64_t then_ns = world_now_ns(world), next_ns = then_ns + SECOND_NS;
        run_until(gossip, u64_min(next_ns, end_ns));
        check_second(&gossip->world);
        count_time(gossip, then_ns);
        measure(gossip, (double)(world_now_ns(world) - then_ns) * 1e-9);
    }
}

/* Ends training. Measures how long it takes until all nodes have one version of the base. */
static void settle(struct gossip *gossip)
{
    struct world *world = &gossip->world;
    const uint64_t from_ns = world_now_ns(world);
    const uint64_t until_ns = from_ns + gossip->experiment->scenario->settle_ns;
    world_rest(world);
    while (!world_is_one_version(world) && world_now_ns(world) < until_ns &&
           !world->check.violation[0] && !experiment_is_stopped(gossip->experiment))
        world_run_until(world, world_now_ns(world) + SLICE_NS);
    if (!world_is_one_version(world))
        return;
    gossip->outcome->one_version_s = (double)(world_now_ns(world) - from_ns) * 1e-9;
    check_end(world);
}

const float *gossip_play(struct experiment *experiment, struct outcome *outcome)
{
    struct gossip *gossip = memory_new(1, sizeof *gossip);
    gossip->experiment = experiment;
    gossip->outcome = outcome;
    build(gossip);
    struct world *world = &gossip->world;
    world->user = gossip;
    world->on_user = on_user;
    world->on_note = on_note;
    train(gossip);
    if (!experiment_is_stopped(experiment)) {
        total_traffic(gossip);
        fault_injector_end(gossip->injector);
        settle(gossip);
        measure(gossip, 0);
    }
    if (experiment_is_stopped(experiment))
        outcome->stopped_s = (double)ns_of(gossip) * 1e-9;
    total_nodes(gossip);
    edges_find(&gossip->world, outcome);
    traffic_total_links(outcome, &world->wire);
    total_removed(gossip);
    outcome->trace = world->trace;
    outcome->events = world->event_queue.taken;
    memcpy(outcome->violation, world->check.violation, sizeof outcome->violation);
    const float *base = base_of_first(gossip);
    experiment_finish_average(experiment, outcome, world->nodes[0].sim_learner.learner);
    health_free(&gossip->health);
    fault_injector_free(gossip->injector);
    world_free(world);
    free(gossip->lifetimes);
    free(gossip);
    return base;
}
