/* Local SGD with an outer optimizer (Stich 2019; the outer step of DiLoCo, Douillard et al. 2023):
 *
 *   every node: H local steps from the common weights x
 *   ring all-reduce of the differences, float32, over the modelled links
 *   d = mean(w_i − x);  m = μ·m + d;  x += rate·(d + μ·m)          (Nesterov)
 *
 * A round takes the computing time of the slowest node plus that of the ring: 2(n−1) transfers of
 * 4P/n bytes over its slowest link, each with its longest delay. Faults are not played: one dead
 * node would stop it.
 */
#include <stdlib.h>
#include <string.h>

#include "strategies/strategy.h"

struct localsgd {
    struct experiment *experiment;
    struct learner **learners; /* [count] */
    uint32_t *nodes;           /* [count]: node of each learner */
    struct arena *arenas;      /* [count] */
    uint32_t count;
    uint64_t round_samples; /* samples of a round, over all nodes */
    float *common;          /* [P]: x */
    float *momentum;        /* [P]: m */
    float *mean;            /* [P]: d */
    float *own;             /* [P]: scratch */
};

static void init(struct localsgd *local, struct experiment *experiment)
{
    const uint32_t nodes = experiment->scenario->nodes_count;
    const size_t parameters = experiment_parameters(experiment);
    *local = (struct localsgd){
        .experiment = experiment,
        .learners = calloc(nodes, sizeof *local->learners),
        .nodes = calloc(nodes, sizeof *local->nodes),
        .arenas = calloc(nodes, sizeof *local->arenas),
        .common = calloc(parameters, sizeof *local->common),
        .momentum = calloc(parameters, sizeof *local->momentum),
        .mean = calloc(parameters, sizeof *local->mean),
        .own = calloc(parameters, sizeof *local->own),
    };
    CHECK(local->learners && local->nodes && local->arenas && local->common && local->momentum &&
          local->mean && local->own);
    for (uint32_t i = 0; i < nodes; i++) {
        if (experiment->shards.sizes[i] == 0)
            continue;
        const uint32_t at = local->count++;
        local->nodes[at] = i;
        arena_init(&local->arenas[at], (size_t)256 << 20);
        local->learners[at] = experiment_learner(experiment, i, &local->arenas[at]);
        const uint32_t batch = experiment_batch(experiment, i);
        if (batch != learner_batch(local->learners[at]))
            learner_set_batch(local->learners[at], batch);
        local->round_samples += (uint64_t)batch * experiment->scenario->local_steps;
    }
    learner_read_weights(local->learners[0], local->common);
}

static void end(struct localsgd *local)
{
    for (uint32_t i = 0; i < local->count; i++) {
        learner_free(local->learners[i]);
        arena_release(&local->arenas[i]);
    }
    free(local->learners);
    free(local->nodes);
    free(local->arenas);
    free(local->common);
    free(local->momentum);
    free(local->mean);
    free(local->own);
}

static void slower(uint64_t *least, const struct rate *rate, uint64_t now_ns)
{
    const uint64_t bytes_per_s = rate_at(rate, now_ns);
    if (bytes_per_s && (!*least || bytes_per_s < *least))
        *least = bytes_per_s;
}

/* Seconds of a ring all-reduce that begins now. */
static double ring_s(const struct localsgd *local, uint64_t now_ns)
{
    const struct scenario *scenario = local->experiment->scenario;
    uint64_t slowest = 0, longest_ns = 0;
    for (uint32_t i = 0; i < local->count; i++) {
        const uint32_t from = local->nodes[i], to = local->nodes[(i + 1) % local->count];
        const struct path *path =
            &scenario->paths[scenario_region(scenario, from)][scenario_region(scenario, to)];
        slower(&slowest, &scenario_group(scenario, from)->up, now_ns);
        slower(&slowest, &scenario_group(scenario, to)->down, now_ns);
        slower(&slowest, &path->rate, now_ns);
        const uint64_t delay_ns = path->delay_ns + path->jitter_ns / 2;
        longest_ns = delay_ns > longest_ns ? delay_ns : longest_ns;
    }
    const double rounds = 2.0 * (local->count - 1);
    const double bytes = 4.0 * (double)experiment_parameters(local->experiment) / local->count;
    return rounds * ((double)longest_ns * 1e-9 + (slowest ? bytes / (double)slowest : 0));
}

static double slowest_step_s(const struct localsgd *local)
{
    double slowest = 0;
    for (uint32_t i = 0; i < local->count; i++) {
        const double speed =
            scenario_group(local->experiment->scenario, local->nodes[i])->samples_per_s;
        const double step_s = learner_batch(local->learners[i]) / speed;
        slowest = step_s > slowest ? step_s : slowest;
    }
    return slowest;
}

static void train(struct localsgd *local, uint64_t rounds, double *cpu_s)
{
    const double begin_s = sim_learner_cpu_s();
    for (uint32_t i = 0; i < local->count && !experiment_is_stopped(local->experiment); i++) {
        learner_write_weights(local->learners[i], local->common);
        learner_follow(local->learners[i], rounds * local->round_samples);
        for (uint32_t step = 0; step < local->experiment->scenario->local_steps; step++)
            (void)learner_step(local->learners[i]);
    }
    *cpu_s += sim_learner_cpu_s() - begin_s;
}

static void reduce(struct localsgd *local)
{
    const struct scenario *scenario = local->experiment->scenario;
    const size_t parameters = experiment_parameters(local->experiment);
    const float rate = (float)scenario->outer_rate, mu = (float)scenario->outer_momentum;
    memset(local->mean, 0, parameters * sizeof *local->mean);
    for (uint32_t i = 0; i < local->count; i++) {
        learner_read_weights(local->learners[i], local->own);
        for (size_t c = 0; c < parameters; c++)
            local->mean[c] += (local->own[c] - local->common[c]) / (float)local->count;
    }
    for (size_t c = 0; c < parameters; c++) {
        local->momentum[c] = mu * local->momentum[c] + local->mean[c];
        local->common[c] += rate * (local->mean[c] + mu * local->momentum[c]);
    }
}

/* Moments up to this time, which show the weights before the next round ends. */
static void show_until(struct localsgd *local, struct outcome *outcome, double until_s,
                       uint64_t rounds)
{
    struct experiment *experiment = local->experiment;
    const struct scenario *scenario = experiment->scenario;
    const double span_s = (double)scenario->span_ns * 1e-9;
    for (double at_s = outcome->moments_count + 1;
         at_s <= span_s && at_s < until_s && !experiment_is_stopped(experiment); at_s++) {
        struct moment *moment = outcome_add(outcome, at_s);
        moment->samples = rounds * local->round_samples;
        moment->sent_bytes =
            rounds * 2 * (local->count - 1) * 4 * (uint64_t)experiment_parameters(experiment);
        moment->rumor_bytes_published = moment->sent_bytes;
        moment->running = scenario->nodes_count;
        experiment_evaluate(experiment, outcome, (uint64_t)(at_s * 1e9), local->common);
        experiment_show(experiment, outcome, (uint64_t)(at_s * 1e9));
    }
}

const float *localsgd_play(struct experiment *experiment, struct outcome *outcome)
{
    struct localsgd local;
    init(&local, experiment);
    const double span_s = (double)experiment->scenario->span_ns * 1e-9;
    double now_s = 0;
    uint64_t rounds = 0;
    for (;;) {
        const double compute_s = experiment->scenario->local_steps * slowest_step_s(&local);
        const double next_s =
            now_s + compute_s + ring_s(&local, (uint64_t)((now_s + compute_s) * 1e9));
        show_until(&local, outcome, next_s, rounds);
        if (experiment_is_stopped(experiment))
            outcome->stopped_s = outcome->moments_count;
        if (outcome_is_stopped(outcome) || next_s > span_s)
            break;
        train(&local, rounds, &outcome->gradient_cpu_s);
        reduce(&local);
        now_s = next_s;
        rounds++;
    }
    for (uint32_t i = 0; i < local.count; i++) {
        struct node_total *total = &outcome->nodes[local.nodes[i]];
        total->steps = rounds * experiment->scenario->local_steps;
        total->samples = total->steps * learner_batch(local.learners[i]);
        total->sent_bytes = total->received_bytes = rounds * 2 * (local.count - 1) * 4 *
                                                    (uint64_t)experiment_parameters(experiment) /
                                                    local.count;
    }
    memcpy(experiment->weights, local.common,
           experiment_parameters(experiment) * sizeof *experiment->weights);
    end(&local);
    return experiment->weights;
}
