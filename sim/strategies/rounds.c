#include "strategies/rounds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "events/event_queue.h"
#include "strategies/consensus.h"

struct rounds {
    const struct rounds_method *method;
    void *self; /* state of the method; method->end frees it */
    struct experiment *experiment;
    struct learner **learners; /* [count] learner of each training node */
    uint32_t *nodes;           /* [count] index in the scenario of each learner's node */
    struct arena *arenas;      /* [count] memory of each learner */
    uint32_t count;
    uint64_t step_samples; /* samples of one step, summed over all nodes */
    uint64_t step_ns;      /* duration of a step on the slowest node */
    uint64_t steps;        /* number of steps that each node has made */
    uint64_t sent_bytes;
    uint64_t shown_ns;  /* virtual time of the last moment in the outcome */
    double *up_bytes;   /* [count] bytes that each node has sent */
    double *down_bytes; /* [count] bytes that each node has received */
    double *way_bytes;  /* [from][to] bytes from one region to another */
};

void round_is_ring_reduce(struct round *round, uint32_t count, uint64_t message_bytes)
{
    CHECK(count > 0);
    round->transfers = 2 * (count - 1);
    round->bytes = round->transfers * message_bytes;
}

void round_is_ring_gather(struct round *round, uint32_t count, uint64_t message_bytes)
{
    CHECK(count > 0);
    round->transfers = count - 1;
    round->bytes = (uint64_t)count * round->transfers * message_bytes;
}

void rounds_learn(struct learner *learner, uint32_t steps)
{
    for (uint32_t step = 0; step < steps; step++)
        (void)learner_step(learner);
}

float rounds_or_published(double configured, double published)
{
    return (float)(configured == CONFIG_AUTO_REAL ? published : configured);
}

static void add_learner(struct rounds *rounds, uint32_t node)
{
    struct experiment *experiment = rounds->experiment;
    const uint32_t i = rounds->count++, batch = experiment_batch(experiment, node);
    const double samples_per_s = scenario_group(experiment->scenario, node)->samples_per_s;
    const uint64_t step_ns = (uint64_t)(batch / samples_per_s * (double)SECOND_NS);
    rounds->nodes[i] = node;
    arena_init_growing(&rounds->arenas[i]);
    rounds->learners[i] = experiment_learner(experiment, node, &rounds->arenas[i]);
    learner_count_learners(rounds->learners[i], experiment->scenario->nodes_count);
    if (batch != learner_batch(rounds->learners[i]))
        learner_set_batch(rounds->learners[i], batch);
    rounds->step_samples += batch;
    rounds->step_ns = u64_max(step_ns, rounds->step_ns);
}

static void begin(struct rounds *rounds, const struct rounds_method *method, const void *settings,
                  struct experiment *experiment)
{
    const uint32_t nodes = experiment->scenario->nodes_count;
    *rounds = (struct rounds){
        .method = method,
        .experiment = experiment,
        .learners = memory_new(nodes, sizeof *rounds->learners),
        .nodes = memory_new(nodes, sizeof *rounds->nodes),
        .arenas = memory_new(nodes, sizeof *rounds->arenas),
        .up_bytes = memory_new(nodes, sizeof *rounds->up_bytes),
        .down_bytes = memory_new(nodes, sizeof *rounds->down_bytes),
        .way_bytes = memory_new((size_t)SCENARIO_REGIONS_MAX * SCENARIO_REGIONS_MAX,
                                sizeof *rounds->way_bytes),
    };
    for (uint32_t i = 0; i < nodes; i++)
        if (experiment->shards.sizes[i] > 0)
            add_learner(rounds, i);
    CHECK(rounds->count > 0);
    learner_read_weights(rounds->learners[0], experiment->weights);
    for (uint32_t i = 1; i < rounds->count; i++)
        learner_write_weights(rounds->learners[i], experiment->weights);
    rounds->self = method->begin(experiment, settings, rounds->count, experiment->weights);
}

static void end(struct rounds *rounds)
{
    for (uint32_t i = 0; i < rounds->count; i++) {
        learner_free(rounds->learners[i]);
        arena_release(&rounds->arenas[i]);
    }
    rounds->method->end(rounds->self);
    free(rounds->learners);
    free(rounds->nodes);
    free(rounds->arenas);
    free(rounds->up_bytes);
    free(rounds->down_bytes);
    free(rounds->way_bytes);
}

/* Lowers *least to the rate divided by its sharers, if that is less. 0 in *least or in the rate
 * means unlimited. */
static void slower(uint64_t *least, const struct rate *rate, uint32_t sharers, uint64_t now_ns)
{
    const uint64_t bytes_per_s = rate_at(rate, now_ns) / sharers;
    if (bytes_per_s && (!*least || bytes_per_s < *least))
        *least = bytes_per_s;
}

/* Returns the receiver of node i's message in a round; i itself = the node does not send. */
static uint32_t receiver(const struct rounds *rounds, const struct round *round, uint32_t i)
{
    return round->to ? round->to[i] : (i + 1) % rounds->count;
}

static uint32_t senders_of(const struct rounds *rounds, const struct round *round)
{
    uint32_t senders = 0;
    for (uint32_t i = 0; i < rounds->count; i++)
        senders += receiver(rounds, round, i) != i;
    return senders;
}

static void count_traffic(struct rounds *rounds, const struct round *round)
{
    const struct scenario *scenario = rounds->experiment->scenario;
    const uint32_t senders = senders_of(rounds, round);
    for (uint32_t i = 0; i < rounds->count; i++) {
        const uint32_t to = receiver(rounds, round, i);
        if (to == i)
            continue;
        const uint32_t here = scenario_region(scenario, rounds->nodes[i]);
        const uint32_t there = scenario_region(scenario, rounds->nodes[to]);
        const double bytes = (double)round->bytes / senders;
        rounds->up_bytes[i] += bytes;
        rounds->down_bytes[to] += bytes;
        rounds->way_bytes[here * SCENARIO_REGIONS_MAX + there] += bytes;
    }
}

/* Returns how many nodes of region `here` send to region `there` in a round. */
static uint32_t crossing(const struct rounds *rounds, const struct round *round, uint32_t here,
                         uint32_t there)
{
    const struct scenario *scenario = rounds->experiment->scenario;
    uint32_t count = 0;
    for (uint32_t i = 0; i < rounds->count; i++) {
        const uint32_t to = receiver(rounds, round, i);
        count += to != i && scenario_region(scenario, rounds->nodes[i]) == here &&
                 scenario_region(scenario, rounds->nodes[to]) == there;
    }
    return count;
}

static uint64_t exchange_ns(const struct rounds *rounds, const struct round *round, uint64_t now_ns)
{
    const struct scenario *scenario = rounds->experiment->scenario;
    uint64_t slowest = 0, longest_ns = 0;
    const uint32_t senders = senders_of(rounds, round);
    for (uint32_t i = 0; i < rounds->count; i++) {
        const uint32_t next = receiver(rounds, round, i);
        const uint32_t from = rounds->nodes[i], to = rounds->nodes[next];
        const uint32_t here = scenario_region(scenario, from),
                       there = scenario_region(scenario, to);
        const struct path *path = &scenario->paths[here][there];
        if (from == to)
            continue;
        slower(&slowest, &scenario_group(scenario, from)->up, 1, now_ns);
        slower(&slowest, &scenario_group(scenario, to)->down, 1, now_ns);
        slower(&slowest, &path->rate, crossing(rounds, round, here, there), now_ns);
        const uint64_t delay_ns = path->delay_ns + path->jitter_ns / 2;
        longest_ns = u64_max(delay_ns, longest_ns);
    }
    const double bytes = senders ? (double)round->bytes / senders : 0;
    const double sending_s = slowest ? bytes / (double)slowest : 0;
    return round->transfers * longest_ns + (uint64_t)(sending_s * (double)SECOND_NS);
}

/* Plays one round, which does not count if it is interrupted before the exchange. */
static void play_round(struct rounds *rounds, const struct round *round, double *cpu_s)
{
    const struct rounds_method *method = rounds->method;
    const double begin_s = sim_learner_cpu_s();
    for (uint32_t i = 0; i < rounds->count && !experiment_is_stopped(rounds->experiment); i++) {
        learner_follow(rounds->learners[i], rounds->steps * rounds->step_samples);
        method->send(rounds->self, i, rounds->learners[i]);
    }
    if (!experiment_is_stopped(rounds->experiment)) {
        method->exchange(rounds->self);
        for (uint32_t i = 0; i < rounds->count; i++)
            method->receive(rounds->self, i, rounds->learners[i]);
        rounds->steps += round->steps + round->meanwhile;
        rounds->sent_bytes += round->bytes;
        count_traffic(rounds, round);
    }
    *cpu_s += sim_learner_cpu_s() - begin_s;
}

static double distance_now(const struct rounds *rounds)
{
    struct consensus *consensus = consensus_new(experiment_parameters(rounds->experiment));
    for (uint32_t i = 0; i < rounds->count; i++) {
        learner_read_weights(rounds->learners[i], rounds->experiment->weights);
        consensus_add(consensus, rounds->experiment->weights);
    }
    return consensus_distance(consensus);
}

/* Adds the moments before until_ns to the outcome: one per second, and one at the end of training.
 * Each moment has the weights of the last completed round. */
static void show_until(struct rounds *rounds, struct outcome *outcome, uint64_t until_ns)
{
    struct experiment *experiment = rounds->experiment;
    const struct scenario *scenario = experiment->scenario;
    while (rounds->shown_ns < scenario->span_ns && !experiment_is_stopped(experiment)) {
        const uint64_t second_ns = rounds->shown_ns + SECOND_NS;
        const uint64_t at_ns = u64_min(second_ns, scenario->span_ns);
        if (at_ns >= until_ns)
            return;
        rounds->shown_ns = at_ns;
        struct moment *moment = outcome_add(outcome, (double)at_ns * 1e-9);
        moment->samples = rounds->steps * rounds->step_samples;
        moment->sent_bytes = rounds->sent_bytes;
        moment->rumor_bytes_published = moment->sent_bytes;
        moment->running = scenario->nodes_count;
        if (experiment_is_evaluation(experiment, at_ns))
            moment->distance = distance_now(rounds);
        experiment_evaluate(experiment, outcome, at_ns, rounds->method->weights(rounds->self));
        experiment_show(experiment, outcome, at_ns);
    }
}

/* Returns the fraction of the play in which `bytes` kept a link busy; NAN if it is unlimited. */
static double use_of(const struct outcome *outcome, const struct rate *rate, double bytes)
{
    const double bytes_per_s = (double)rate_at(rate, outcome->scenario->span_ns);
    return bytes_per_s > 0 ? fmin(bytes / bytes_per_s / outcome_span_s(outcome), 1) : NAN;
}

static void fill_links(const struct rounds *rounds, struct outcome *outcome)
{
    const struct scenario *scenario = outcome->scenario;
    const uint32_t regions = scenario->regions_count;
    outcome->links = memory_new((size_t)regions * regions, sizeof *outcome->links);
    for (uint32_t k = 0; k < regions * regions; k++) {
        const uint32_t from = k / regions, to = k % regions;
        const double bytes = rounds->way_bytes[from * SCENARIO_REGIONS_MAX + to];
        const struct path *path = &scenario->paths[from][to];
        if (bytes == 0)
            continue;
        struct link_total *link = &outcome->links[outcome->links_count++];
        *link = (struct link_total){
            .bytes = (uint64_t)bytes,
            .rate_bytes_per_s = (double)rate_at(&path->rate, scenario->span_ns),
            .use = use_of(outcome, &path->rate, bytes),
            .delay_s = ((double)path->delay_ns + (double)path->jitter_ns / 2) * 1e-9,
        };
        memcpy(link->from, scenario->regions[from], sizeof link->from);
        memcpy(link->to, scenario->regions[to], sizeof link->to);
    }
}

static void fill_totals(const struct rounds *rounds, struct outcome *outcome)
{
    for (uint32_t i = 0; i < rounds->count; i++) {
        const uint32_t node = rounds->nodes[i], batch = learner_batch(rounds->learners[i]);
        const struct group *group = scenario_group(outcome->scenario, node);
        struct node_total *total = &outcome->nodes[node];
        total->steps = rounds->steps;
        total->samples = total->steps * batch;
        total->steps_possible = (uint64_t)(outcome_span_s(outcome) * group->samples_per_s / batch);
        total->sent_bytes = (uint64_t)rounds->up_bytes[i];
        total->received_bytes = (uint64_t)rounds->down_bytes[i];
        total->up_use = use_of(outcome, &group->up, rounds->up_bytes[i]);
        total->down_use = use_of(outcome, &group->down, rounds->down_bytes[i]);
    }
    fill_links(rounds, outcome);
}

static void play(struct rounds *rounds, struct outcome *outcome)
{
    struct experiment *experiment = rounds->experiment;
    uint64_t now_ns = 0;
    while (!experiment_is_stopped(experiment)) {
        const struct round round = rounds->method->next(rounds->self);
        CHECK(round.steps + round.meanwhile > 0);
        const uint64_t sent_ns = now_ns + round.steps * rounds->step_ns;
        const uint64_t waiting_ns = exchange_ns(rounds, &round, sent_ns);
        const uint64_t computing_ns = round.meanwhile * rounds->step_ns;
        now_ns = sent_ns + u64_max(waiting_ns, computing_ns);
        show_until(rounds, outcome, now_ns);
        if (now_ns > experiment->scenario->span_ns)
            break;
        play_round(rounds, &round, &outcome->gradient_cpu_s);
    }
}

const float *rounds_play(const struct rounds_method *method, const void *settings,
                         struct experiment *experiment, struct outcome *outcome)
{
    struct rounds rounds;
    begin(&rounds, method, settings, experiment);
    play(&rounds, outcome);
    if (experiment_is_stopped(experiment))
        outcome->stopped_s = (double)rounds.shown_ns * 1e-9;
    fill_totals(&rounds, outcome);
    memcpy(experiment->weights, method->weights(rounds.self),
           experiment_parameters(experiment) * sizeof *experiment->weights);
    end(&rounds);
    return experiment->weights;
}
