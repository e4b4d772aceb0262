#include "experiment/experiment.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/memory.h"
#include "base/rng.h"
#include "events/event_queue.h"

/* Address space; only touched pages cost memory. */
#define ARENA_BYTES ((size_t)16 << 30)
/* Up to this many nodes, learners without data (random_walk_learner.h) check that published +
 * residual = progress, at the cost of memory. */
#define ACCOUNTED_MAX 64

static enum error cut_shards(struct experiment *experiment, struct problem *problem)
{
    const struct scenario *scenario = experiment->scenario;
    double weights[SCENARIO_NODES_MAX], sum = 0;
    for (uint32_t i = 0; i < scenario->nodes_count; i++) {
        const struct group *group = scenario_group(scenario, i);
        weights[i] = group->samples_per_s > 0 ? group->data : 0;
        sum += weights[i];
    }
    if (sum == 0)
        return problem_set(problem, MALFORMED,
                           "no node trains; give a group its speed, such as: nodes = 2 desk, 400 "
                           "samples/s");
    const struct config_data *data = &scenario->config.data;
    const struct shards_options options = {.nodes = scenario->nodes_count,
                                           .weights = weights,
                                           .alpha = scenario->skew,
                                           .seed = data->seed,
                                           .is_whole = dataset_sources[data->source].is_whole};
    return shards_cut(&experiment->shards, &experiment->train, &options, problem);
}

/* Returns node i's part of the sum of all training nodes' batches, in proportion to its speed; at
 * least 1. */
static uint32_t batch_by_speed(const struct scenario *scenario, uint32_t i)
{
    double batches = 0, speeds = 0;
    for (uint32_t k = 0; k < scenario->nodes_count; k++) {
        struct config *config = memory_new(1, sizeof *config);
        scenario_node_config(scenario, k, config);
        const double speed = scenario_group(scenario, k)->samples_per_s;
        batches += speed > 0 ? config->train.batch : 0;
        speeds += speed;
        free(config);
    }
    const double batch = batches * scenario_group(scenario, i)->samples_per_s / speeds;
    return batch < 1 ? 1 : (uint32_t)(batch + 0.5);
}

static struct config *node_config(const struct experiment *experiment, uint32_t i)
{
    const struct scenario *scenario = experiment->scenario;
    struct config *config = memory_new(1, sizeof *config);
    scenario_node_config(scenario, i, config);
    if (scenario->strategy == STRATEGY_DLION && scenario->settings.batch_by_speed &&
        config->train.batch != CONFIG_AUTO)
        config->train.batch = batch_by_speed(scenario, i);
    return config;
}

uint32_t experiment_batch(const struct experiment *experiment, uint32_t i)
{
    const double samples_per_s = scenario_group(experiment->scenario, i)->samples_per_s;
    struct config *config = node_config(experiment, i);
    uint32_t batch = config->train.batch;
    if (batch == CONFIG_AUTO) {
        const uint32_t batch_max = setup_batch_max(config, &experiment->train, 0);
        const struct batch_size batch_size = {.step_ns = (uint64_t)(config->train.step_ms * 1e6),
                                              .batch_max = batch_max};
        batch = batch_size_fit(&batch_size, BATCH_SIZE_START, samples_per_s);
    }
    free(config);
    return samples_per_s > 0 ? batch : 0;
}

static uint32_t batch_of(const struct experiment *experiment)
{
    uint32_t sum = 0, most = 0;
    for (uint32_t i = 0; i < experiment->scenario->nodes_count; i++) {
        struct config *config = node_config(experiment, i);
        const uint32_t batch = setup_batch_max(config, &experiment->train, 0);
        most = u32_max(batch, most);
        sum += experiment_batch(experiment, i);
        free(config);
    }
    return experiment->scenario->strategy == STRATEGY_IDEAL ? sum : most;
}

/* Opens the device of all learners: the CPU unless the scenario names a GPU, so that a scenario
 * gives the same run on any machine. */
static enum error open_device(struct experiment *experiment, struct problem *problem)
{
    const struct config *config = &experiment->scenario->config;
    const bool is_gpu = device_is_gpu(config->train.device);
    char text[DEVICE_TEXT_MAX];
    struct problem why;
    const enum error error = device_open(is_gpu ? config->train.device : "cpu", 1,
                                         is_gpu ? setup_precision(config) : PRECISION_FP32,
                                         &experiment->backend, text, &why);
    return error == OK ? OK : problem_set(problem, error, "[train] device: %.480s", why.text);
}

enum error experiment_open(struct experiment *experiment, const struct scenario *scenario,
                           struct problem *problem)
{
    *experiment = (struct experiment){.scenario = scenario, .begin_cpu_s = sim_learner_cpu_s()};
    arena_init(&experiment->arena, ARENA_BYTES);
    guard_init(&experiment->guard, 0);
    enum error error = open_device(experiment, problem);
    if (error != OK || scenario->made_up)
        return error;
    error = setup_data(&scenario->config, &experiment->train, &experiment->test, problem);
    if (error == OK)
        error = cut_shards(experiment, problem);
    if (error == OK) {
        experiment->batch = batch_of(experiment);
        error = setup_model(&scenario->config, experiment->batch, &experiment->train,
                            &experiment->arena, experiment->backend, &experiment->made, problem);
    }
    if (error == OK) {
        experiment->evaluator = evaluator_new(&experiment->arena, experiment->backend,
                                              experiment->made.model, &experiment->test);
        experiment->weights = arena_alloc(&experiment->arena, experiment_parameters(experiment),
                                          sizeof *experiment->weights);
    }
    return error;
}

void experiment_close(struct experiment *experiment)
{
    if (experiment->evaluator)
        evaluator_free(experiment->evaluator);
    if (experiment->made.model)
        model_free(experiment->made.model);
    shards_free(&experiment->shards);
    dataset_free(&experiment->train);
    dataset_free(&experiment->test);
    if (experiment->backend)
        experiment->backend->close(experiment->backend);
    arena_release(&experiment->arena);
}

size_t experiment_parameters(const struct experiment *experiment)
{
    return experiment->scenario->made_up ? experiment->scenario->parameters
                                         : model_parameters(experiment->made.model);
}

/* If a fault poisons node i's labels, replaces each class k in its shard by classes - 1 - k. */
static void flip_labels(const struct experiment *experiment, uint32_t i, struct dataset *shard)
{
    const struct scenario *scenario = experiment->scenario;
    for (uint32_t k = 0; k < scenario->faults_count; k++) {
        const struct fault *fault = &scenario->faults[k];
        if (fault->kind != FAULT_POISON || fault->poison != POISON_LABELS ||
            !node_set_has(&fault->a, i) || !shard->labels)
            continue;
        for (uint32_t s = 0; s < shard->count; s++)
            shard->labels[s] = shard->classes - 1 - shard->labels[s];
        return;
    }
}

struct learner *experiment_learner(struct experiment *experiment, uint32_t i, struct arena *arena)
{
    struct problem problem;
    struct dataset shard = {0};
    struct config *config = node_config(experiment, i);
    const bool trains = experiment->shards.sizes[i] > 0;
    if (trains)
        CHECK(shards_take(&experiment->shards, &experiment->train, i, &shard, &problem) == OK);
    flip_labels(experiment, i, &shard);
    struct dataset test = experiment->test;
    struct learner_options options =
        setup_learner_options(config, &experiment->made, i, test.count);
    if (!experiment->scenario->quarantines) /* no trials; the base is compared with own labels */
        options.test_from = options.test_to = 0;
    test.count = u32_max(options.test_to, 1);
    if (i > 0 || experiment->scenario->strategy != STRATEGY_GOSSIP)
        options.averages = false; /* the report shows an averaged base only for the first node */
    struct learner *learner = learner_new(arena, experiment->backend, experiment->made.model,
                                          trains ? &shard : NULL, &test, &options);
    dataset_free(&shard);
    free(config);
    return learner;
}

void experiment_make_learner(void *self, uint32_t i, struct sim_learner *learner)
{
    struct experiment *experiment = self;
    const struct scenario *scenario = experiment->scenario;
    *learner = (struct sim_learner){.parameters = experiment_parameters(experiment)};
    arena_init_growing(&learner->arena);
    if (!scenario->made_up) {
        learner->learner = experiment_learner(experiment, i, &learner->arena);
        return;
    }
    learner->is_accounted = scenario->nodes_count <= ACCOUNTED_MAX;
    learner->random_walk = random_walk_new(
        &learner->arena, experiment->backend, learner->parameters, rng_mix(scenario->seed) + i,
        setup_density_max(&scenario->config, learner->parameters), learner->is_accounted);
}

struct evaluation experiment_mark(struct experiment *experiment, const float *host_weights,
                                  uint32_t samples)
{
    const uint32_t all = evaluator_samples(experiment->evaluator);
    const double begin_s = sim_learner_cpu_s();
    const uint32_t to = samples == 0 || samples > all ? all : samples;
    const struct evaluation evaluation = evaluator_run(experiment->evaluator, host_weights, 0, to);
    experiment->evaluate_cpu_s += sim_learner_cpu_s() - begin_s;
    return evaluation;
}

bool experiment_is_evaluation(const struct experiment *experiment, uint64_t at_ns)
{
    const uint64_t every_ns = experiment->scenario->evaluate_ns;
    const bool is_time = at_ns % (every_ns > 0 ? every_ns : 1) < SECOND_NS && at_ns > 0;
    return experiment->evaluator && every_ns > 0 && !experiment_is_stopped(experiment) &&
           (is_time || at_ns == experiment->scenario->span_ns);
}

static void store_evaluation(struct moment *moment, const struct evaluation *evaluation)
{
    moment->accuracy = evaluation_accuracy(evaluation);
    moment->loss = evaluation->loss;
}

static void watch_base(struct experiment *experiment, struct outcome *outcome, uint64_t at_ns,
                       const struct evaluation *evaluation)
{
    char text[GUARD_TEXT_BYTES];
    const struct scenario *scenario = experiment->scenario;
    const uint64_t samples = outcome->moments[outcome->moments_count - 1].samples;
    experiment->guard.steps = samples / scenario->nodes_count / experiment->batch;
    const enum guard_event event = guard_on_evaluation(&experiment->guard, at_ns, evaluation);
    if (event != GUARD_WORSE)
        return;
    guard_text(&experiment->guard, event, at_ns, NULL, true, text);
    outcome_alarm(outcome, (double)at_ns * 1e-9, "the base", text);
}

void experiment_evaluate(struct experiment *experiment, struct outcome *outcome, uint64_t at_ns,
                         const float *host_weights)
{
    CHECK(outcome->moments_count > 0);
    if (!experiment_is_evaluation(experiment, at_ns))
        return;
    struct evaluation evaluation =
        experiment_mark(experiment, host_weights, experiment->scenario->evaluate_samples);
    store_evaluation(&outcome->moments[outcome->moments_count - 1], &evaluation);
    watch_base(experiment, outcome, at_ns, &evaluation);
    if (at_ns < experiment->scenario->span_ns)
        return;
    if (evaluation.samples < evaluator_samples(experiment->evaluator))
        evaluation = experiment_mark(experiment, host_weights, 0);
    outcome->trained_accuracy = evaluation_accuracy(&evaluation);
    outcome->trained_loss = evaluation.loss;
}

void experiment_show(const struct experiment *experiment, const struct outcome *outcome,
                     uint64_t at_ns)
{
    if (experiment->on_moment)
        experiment->on_moment(experiment->watcher, outcome,
                              (double)at_ns / (double)experiment->scenario->span_ns);
}

bool experiment_is_stopped(const struct experiment *experiment)
{
    return experiment->is_stopped && experiment->is_stopped(experiment->watcher);
}

static uint64_t memory_bytes(void)
{
    struct rusage usage;
    (void)getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)usage.ru_maxrss * 1024;
}

void experiment_finish_average(struct experiment *experiment, struct outcome *outcome,
                               const struct learner *first)
{
    const float *mean = first ? learner_average(first) : NULL;
    if (experiment->evaluator && mean && !outcome_is_stopped(outcome))
        outcome->averaged = experiment_mark(experiment, mean, 0);
}

void experiment_finish(struct experiment *experiment, struct outcome *outcome,
                       const float *host_weights)
{
    if (experiment->evaluator && host_weights && !outcome_is_stopped(outcome)) {
        const uint32_t part = experiment->scenario->evaluate_samples;
        struct evaluation evaluation = experiment_mark(experiment, host_weights, 0);
        outcome->accuracy = evaluation_accuracy(&evaluation);
        outcome->loss = evaluation.loss;
        outcome->tested = evaluation.samples;
        if (part > 0 && part < evaluation.samples)
            /* The last moment is evaluated on the same samples as the other moments. */
            evaluation = experiment_mark(experiment, host_weights, part);
        if (outcome->moments_count > 0)
            store_evaluation(&outcome->moments[outcome->moments_count - 1], &evaluation);
    }
    outcome->evaluate_cpu_s = experiment->evaluate_cpu_s;
    outcome->cpu_s = sim_learner_cpu_s() - experiment->begin_cpu_s;
    outcome->rss_bytes_max = memory_bytes();
    outcome_judge(outcome);
}
