#include "strategies/rounds.h"

#include <stdlib.h>
#include <string.h>

#include "world/event_queue.h"

struct rounds {
    const struct rounds_method *method;
    struct experiment *experiment;
    struct learner **learners; /* [count] */
    uint32_t *nodes;           /* [count]: node of each learner */
    struct arena *arenas;      /* [count] */
    uint32_t count;
    uint64_t round_samples; /* samples of a round, over all nodes */
    uint64_t step_ns;       /* duration of a step of the slowest node */
    uint64_t done;          /* rounds so far */
    uint64_t shown_ns;      /* time of the last moment */
    void *compressor;       /* the compressor's own; NULL: messages are dense */
    float *common;          /* [P]: x */
    float *momentum;        /* [P]: m */
    float *mean;            /* [P]: d */
    float *own;             /* [P]: weights, progress, then message of one node */
};

static void add_learner(struct rounds *rounds, uint32_t node)
{
    struct experiment *experiment = rounds->experiment;
    const uint32_t i = rounds->count++, batch = experiment_batch(experiment, node);
    const double samples_per_s = scenario_group(experiment->scenario, node)->samples_per_s;
    const uint64_t step_ns = (uint64_t)(batch / samples_per_s * (double)SECOND_NS);
    rounds->nodes[i] = node;
    arena_init(&rounds->arenas[i], (size_t)256 << 20);
    rounds->learners[i] = experiment_learner(experiment, node, &rounds->arenas[i]);
    if (batch != learner_batch(rounds->learners[i]))
        learner_set_batch(rounds->learners[i], batch);
    rounds->round_samples += (uint64_t)batch * experiment->scenario->local_steps;
    rounds->step_ns = step_ns > rounds->step_ns ? step_ns : rounds->step_ns;
}

static void begin(struct rounds *rounds, const struct rounds_method *method,
                  struct experiment *experiment)
{
    const uint32_t nodes = experiment->scenario->nodes_count;
    const size_t parameters = experiment_parameters(experiment);
    *rounds = (struct rounds){
        .method = method,
        .experiment = experiment,
        .learners = calloc(nodes, sizeof *rounds->learners),
        .nodes = calloc(nodes, sizeof *rounds->nodes),
        .arenas = calloc(nodes, sizeof *rounds->arenas),
        .common = calloc(parameters, sizeof *rounds->common),
        .momentum = calloc(parameters, sizeof *rounds->momentum),
        .mean = calloc(parameters, sizeof *rounds->mean),
        .own = calloc(parameters, sizeof *rounds->own),
    };
    CHECK(rounds->learners && rounds->nodes && rounds->arenas && rounds->common &&
          rounds->momentum && rounds->mean && rounds->own);
    for (uint32_t i = 0; i < nodes; i++)
        if (experiment->shards.sizes[i] > 0)
            add_learner(rounds, i);
    CHECK(rounds->count > 0);
    if (method->compressor)
        rounds->compressor = method->compressor->begin(experiment, rounds->count);
    learner_read_weights(rounds->learners[0], rounds->common);
}

static void end(struct rounds *rounds)
{
    for (uint32_t i = 0; i < rounds->count; i++) {
        learner_free(rounds->learners[i]);
        arena_release(&rounds->arenas[i]);
    }
    if (rounds->method->compressor)
        rounds->method->compressor->end(rounds->compressor);
    free(rounds->learners);
    free(rounds->nodes);
    free(rounds->arenas);
    free(rounds->common);
    free(rounds->momentum);
    free(rounds->mean);
    free(rounds->own);
}

/* Bytes that all nodes together send in a round. */
static uint64_t round_bytes(const struct rounds *rounds)
{
    const uint64_t others = rounds->count - 1;
    if (!rounds->method->compressor)
        return 2 * others * 4 * (uint64_t)experiment_parameters(rounds->experiment);
    return rounds->count * others * rounds->method->compressor->message_bytes(rounds->compressor);
}

static void slower(uint64_t *least, const struct rate *rate, uint64_t now_ns)
{
    const uint64_t bytes_per_s = rate_at(rate, now_ns);
    if (bytes_per_s && (!*least || bytes_per_s < *least))
        *least = bytes_per_s;
}

/* Duration of the exchange of a round, if it begins now. */
static uint64_t ring_ns(const struct rounds *rounds, uint64_t now_ns)
{
    const struct scenario *scenario = rounds->experiment->scenario;
    uint64_t slowest = 0, longest_ns = 0;
    for (uint32_t i = 0; i < rounds->count; i++) {
        const uint32_t from = rounds->nodes[i], to = rounds->nodes[(i + 1) % rounds->count];
        const struct path *path =
            &scenario->paths[scenario_region(scenario, from)][scenario_region(scenario, to)];
        slower(&slowest, &scenario_group(scenario, from)->up, now_ns);
        slower(&slowest, &scenario_group(scenario, to)->down, now_ns);
        slower(&slowest, &path->rate, now_ns);
        const uint64_t delay_ns = path->delay_ns + path->jitter_ns / 2;
        longest_ns = delay_ns > longest_ns ? delay_ns : longest_ns;
    }
    const uint64_t transfers = (rounds->method->compressor ? 1 : 2) * (rounds->count - 1);
    const double bytes = (double)round_bytes(rounds) / rounds->count;
    const double sending_s = slowest ? bytes / (double)slowest : 0;
    return transfers * longest_ns + (uint64_t)(sending_s * (double)SECOND_NS);
}

/* The local steps of one node, and its message in `own`. */
static void learn(struct rounds *rounds, uint32_t i)
{
    struct learner *learner = rounds->learners[i];
    learner_write_weights(learner, rounds->common);
    learner_follow(learner, rounds->done * rounds->round_samples);
    for (uint32_t step = 0; step < rounds->experiment->scenario->local_steps; step++)
        (void)learner_step(learner);
    learner_read_weights(learner, rounds->own);
    for (size_t c = 0; c < experiment_parameters(rounds->experiment); c++)
        rounds->own[c] -= rounds->common[c];
    if (rounds->method->compressor)
        rounds->method->compressor->compress(rounds->compressor, i, rounds->own);
}

static float or_published(double configured, double published)
{
    return (float)(configured == CONFIG_AUTO_REAL ? published : configured);
}

static void move(struct rounds *rounds)
{
    const struct scenario *scenario = rounds->experiment->scenario;
    const float rate = or_published(scenario->outer_rate, rounds->method->outer_rate);
    const float mu = or_published(scenario->outer_momentum, rounds->method->outer_momentum);
    for (size_t c = 0; c < experiment_parameters(rounds->experiment); c++) {
        rounds->momentum[c] = mu * rounds->momentum[c] + rounds->mean[c];
        rounds->common[c] += rate * (rounds->mean[c] + mu * rounds->momentum[c]);
    }
    rounds->done++;
}

/* One round; nothing of it counts if it is interrupted. */
static void play_round(struct rounds *rounds, double *cpu_s)
{
    const size_t parameters = experiment_parameters(rounds->experiment);
    const double begin_s = sim_learner_cpu_s();
    memset(rounds->mean, 0, parameters * sizeof *rounds->mean);
    for (uint32_t i = 0; i < rounds->count && !experiment_is_stopped(rounds->experiment); i++) {
        learn(rounds, i);
        for (size_t c = 0; c < parameters; c++)
            rounds->mean[c] += rounds->own[c] / (float)rounds->count;
    }
    *cpu_s += sim_learner_cpu_s() - begin_s;
    if (!experiment_is_stopped(rounds->experiment))
        move(rounds);
}

/* Moments before that time, which show the weights before the next round ends: one each second, and
 * one at the end. */
static void show_until(struct rounds *rounds, struct outcome *outcome, uint64_t until_ns)
{
    struct experiment *experiment = rounds->experiment;
    const struct scenario *scenario = experiment->scenario;
    while (rounds->shown_ns < scenario->span_ns && !experiment_is_stopped(experiment)) {
        const uint64_t second_ns = rounds->shown_ns + SECOND_NS;
        const uint64_t at_ns = second_ns < scenario->span_ns ? second_ns : scenario->span_ns;
        if (at_ns >= until_ns)
            return;
        rounds->shown_ns = at_ns;
        struct moment *moment = outcome_add(outcome, (double)at_ns * 1e-9);
        moment->samples = rounds->done * rounds->round_samples;
        moment->sent_bytes = rounds->done * round_bytes(rounds);
        moment->rumor_bytes_published = moment->sent_bytes;
        moment->running = scenario->nodes_count;
        experiment_evaluate(experiment, outcome, at_ns, rounds->common);
        experiment_show(experiment, outcome, at_ns);
    }
}

static void fill_totals(const struct rounds *rounds, struct outcome *outcome)
{
    for (uint32_t i = 0; i < rounds->count; i++) {
        struct node_total *total = &outcome->nodes[rounds->nodes[i]];
        total->steps = rounds->done * rounds->experiment->scenario->local_steps;
        total->samples = total->steps * learner_batch(rounds->learners[i]);
        total->sent_bytes = total->received_bytes =
            rounds->done * round_bytes(rounds) / rounds->count;
    }
}

const float *rounds_play(const struct rounds_method *method, struct experiment *experiment,
                         struct outcome *outcome)
{
    struct rounds rounds;
    begin(&rounds, method, experiment);
    const uint64_t compute_ns = experiment->scenario->local_steps * rounds.step_ns;
    uint64_t now_ns = 0;
    while (!experiment_is_stopped(experiment)) {
        const uint64_t next_ns = now_ns + compute_ns + ring_ns(&rounds, now_ns + compute_ns);
        show_until(&rounds, outcome, next_ns);
        if (next_ns > experiment->scenario->span_ns)
            break;
        play_round(&rounds, &outcome->gradient_cpu_s);
        now_ns = next_ns;
    }
    if (experiment_is_stopped(experiment))
        outcome->stopped_s = (double)rounds.shown_ns * 1e-9;
    fill_totals(&rounds, outcome);
    memcpy(experiment->weights, rounds.common,
           experiment_parameters(experiment) * sizeof *experiment->weights);
    end(&rounds);
    return experiment->weights;
}
