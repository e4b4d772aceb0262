#include "scenario/experiment.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "world/event_queue.h"
#include "base/rng.h"

#define LAB_ARENA_BYTES  ((size_t)16 << 30) /* address space; only what is touched costs memory */
#define MIND_ARENA_BYTES ((size_t)256 << 20)
#define ACCOUNTED_MAX    64 /* with more nodes the account of wanderers would cost too much */

static enum status cut(struct lab *lab, struct problem *problem)
{
    const struct scenario *scenario = lab->scenario;
    double weights[SCENARIO_NODES_MAX];
    for (uint32_t i = 0; i < scenario->nodes_count; i++) {
        const struct group *group = scenario_group(scenario, i);
        weights[i] = group->samples_per_s > 0 ? group->data : 0;
    }
    const struct shards_options options = {.nodes = scenario->nodes_count,
                                           .weights = weights,
                                           .alpha = scenario->skew,
                                           .seed = scenario->config.data.seed};
    return shards_cut(&lab->shards, &lab->train, &options, problem);
}

static struct config *node_config(const struct lab *lab, uint32_t i)
{
    struct config *config = malloc(sizeof *config);
    CHECK(config);
    scenario_node_config(lab->scenario, i, config);
    return config;
}

uint32_t lab_batch(const struct lab *lab, uint32_t i)
{
    const double samples_per_s = scenario_group(lab->scenario, i)->samples_per_s;
    struct config *config = node_config(lab, i);
    uint32_t batch = config->train.batch;
    if (batch == CONFIG_AUTO) {
        const uint32_t batch_max = setup_batch_max(config, &lab->train);
        const struct pace pace = {.step_ns = (uint64_t)(config->train.step_ms * 1e6),
                                  .batch_max = batch_max};
        batch = pace_fit(&pace, PACE_BATCH_START, samples_per_s);
    }
    free(config);
    return samples_per_s > 0 ? batch : 0;
}

/* What the one model must have room for: the batches of all, together or one at a time. */
static uint32_t batch_of(const struct lab *lab)
{
    uint32_t sum = 0, most = 0;
    for (uint32_t i = 0; i < lab->scenario->nodes_count; i++) {
        struct config *config = node_config(lab, i);
        const uint32_t batch = setup_batch_max(config, &lab->train);
        most = batch > most ? batch : most;
        sum += lab_batch(lab, i);
        free(config);
    }
    return lab->scenario->strategy == STRATEGY_IDEAL ? sum : most;
}

/* The arenas exist before anything that can fail, so that lab_close may always be called. */
enum status lab_open(struct lab *lab, const struct scenario *scenario, struct problem *problem)
{
    *lab =
        (struct lab){.scenario = scenario, .backend = backend_cpu(1), .begin_cpu_s = mind_cpu_s()};
    arena_init(&lab->arena, LAB_ARENA_BYTES);
    if (scenario->made_up)
        return OK;
    struct dataset test = {0};
    enum status status = setup_data(&scenario->config, &lab->train, &test, problem);
    if (status == OK)
        status = cut(lab, problem);
    if (status == OK) {
        lab->batch = batch_of(lab);
        status = setup_model(&scenario->config, lab->batch, &lab->train, &lab->arena, lab->backend,
                             &lab->made, problem);
    }
    if (status == OK) {
        lab->exam = exam_new(&lab->arena, lab->backend, lab->made.model, &test);
        lab->weights = arena_take(&lab->arena, lab_parameters(lab), sizeof *lab->weights);
    }
    dataset_free(&test);
    return status;
}

void lab_close(struct lab *lab)
{
    if (lab->exam)
        exam_free(lab->exam);
    if (lab->made.model)
        model_free(lab->made.model);
    shards_free(&lab->shards);
    dataset_free(&lab->train);
    lab->backend->close(lab->backend);
    arena_release(&lab->arena);
}

size_t lab_parameters(const struct lab *lab)
{
    return lab->scenario->made_up ? lab->scenario->parameters : model_parameters(lab->made.model);
}

struct learner *lab_learner(struct lab *lab, uint32_t i, struct arena *arena)
{
    struct problem problem;
    struct dataset shard = {0};
    struct config *config = node_config(lab, i);
    const bool trains = lab->shards.sizes[i] > 0;
    if (trains)
        CHECK(shards_take(&lab->shards, &lab->train, i, &shard, &problem) == OK);
    const struct learner_options options = setup_learner_options(config, &lab->made, i, 0);
    struct learner *learner =
        learner_new(arena, lab->backend, lab->made.model, trains ? &shard : NULL, NULL, &options);
    dataset_free(&shard);
    free(config);
    return learner;
}

void lab_mind(void *self, uint32_t i, struct mind *mind)
{
    struct lab *lab = self;
    const struct scenario *scenario = lab->scenario;
    *mind = (struct mind){.parameters = lab_parameters(lab)};
    arena_init(&mind->arena, MIND_ARENA_BYTES);
    if (!scenario->made_up) {
        mind->learner = lab_learner(lab, i, &mind->arena);
        return;
    }
    const double told_max = scenario->config.exchange.told_max * (double)mind->parameters;
    mind->is_accounted = scenario->nodes_count <= ACCOUNTED_MAX;
    mind->wander =
        wander_new(&mind->arena, lab->backend, mind->parameters, rng_mix(scenario->seed) + i,
                   told_max < 1 ? 1 : (uint32_t)told_max, mind->is_accounted);
}

struct evaluation lab_mark(struct lab *lab, const float *host_weights, uint32_t samples)
{
    const uint32_t all = exam_samples(lab->exam);
    const double begin_s = mind_cpu_s();
    const uint32_t to = samples == 0 || samples > all ? all : samples;
    const struct evaluation evaluation = exam_mark(lab->exam, host_weights, 0, to);
    lab->evaluate_cpu_s += mind_cpu_s() - begin_s;
    return evaluation;
}

bool lab_is_evaluation(const struct lab *lab, uint64_t at_ns)
{
    const uint64_t every_ns = lab->scenario->evaluate_ns;
    return lab->exam && every_ns > 0 && at_ns > 0 && at_ns % every_ns < SECOND_NS;
}

void lab_enter(struct moment *moment, const struct evaluation *evaluation)
{
    moment->accuracy = (double)evaluation->correct / evaluation->samples;
    moment->loss = evaluation->loss;
}

static uint64_t memory_bytes(void)
{
    struct rusage usage;
    (void)getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)usage.ru_maxrss * 1024;
}

void lab_finish(struct lab *lab, struct outcome *outcome, const float *host_weights)
{
    if (lab->exam && host_weights) {
        const struct evaluation evaluation = lab_mark(lab, host_weights, 0);
        outcome->accuracy = (double)evaluation.correct / evaluation.samples;
        outcome->loss = evaluation.loss;
        outcome->tested = evaluation.samples;
        if (outcome->moments_count > 0)
            lab_enter(&outcome->moments[outcome->moments_count - 1], &evaluation);
    }
    outcome->evaluate_cpu_s = lab->evaluate_cpu_s;
    outcome->cpu_s = mind_cpu_s() - lab->begin_cpu_s;
    outcome->rss_bytes_max = memory_bytes();
    outcome_judge(outcome);
}
