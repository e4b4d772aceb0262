#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/rng.h"
#include "training/inference.h"
#include "training/learner_private.h"

#define START_PART     ((size_t)1 << 16) /* initial weights drawn at once */
#define EVALUATED_PART 4096              /* entries of the base read at once */

/* Draws the initial weights in parts that share one small buffer: the first access to new memory
 * costs more than drawing. */
static void draw_start(struct learner *learner)
{
    const size_t parameters = model_parameters(learner->model);
    float *part = memory_new(START_PART, sizeof *part);
    for (size_t first = 0; first < parameters; first += START_PART) {
        const size_t left = parameters - first, count = size_min(left, START_PART);
        model_init_part(learner->model, learner->options.model_seed, first, count, part);
        replica_begin_part(&learner->replica, first, count, part);
    }
    free(part);
}

/* A model's statistics are its last entries. */
static void keep_statistics(struct learner *learner, struct arena *arena)
{
    const struct learner_options *options = &learner->options;
    const struct entry_range *range = options->statistics;
    uint32_t ranges = options->statistics_count;
    struct entry_range last;
    if (learner->model) {
        last.first = model_trained(learner->model);
        last.count = model_parameters(learner->model) - last.first;
        range = &last;
        ranges = last.count > 0;
    }
    replica_keep_statistics(&learner->replica, arena, range, ranges);
}

static void replica_start(struct learner *learner, struct arena *arena)
{
    const struct learner_options *options = &learner->options;
    CHECK(learner->model || (options->start && options->parameters > 0));
    replica_init(&learner->replica, arena, learner->backend,
                 learner->model ? model_parameters(learner->model) : options->parameters, NULL,
                 options->density_max);
    if (options->companded)
        replica_compand(&learner->replica);
    if (options->start)
        replica_begin_part(&learner->replica, 0, learner->replica.parameters, options->start);
    else
        draw_start(learner);
    learner->options.start = NULL;
    keep_statistics(learner, arena);
    learner->options.statistics = NULL;
}

static uint32_t parts_of(const struct learner *learner)
{
    return u32_max(learner->options.micro_batches, 1);
}

static uint32_t rounded_up(uint32_t number, uint32_t by)
{
    CHECK(by > 0);
    return (number + by - 1) / by;
}

/* Divides a step of `size` samples into equal micro-batches (the last may be smaller), and the
 * micro-batches among `devices` devices. */
static struct step_cut cut_of(const struct learner *learner, uint32_t size, uint32_t devices)
{
    const uint32_t part = rounded_up(size, parts_of(learner));
    return (struct step_cut){
        .size = size, .part = part, .each = part * rounded_up(parts_of(learner), devices)};
}

static struct step_cut next_cut(const struct learner *learner)
{
    return cut_of(learner, learner->size,
                  learner->data_parallel ? data_parallel_devices(learner->data_parallel) : 1);
}

static void train_start(struct learner *learner, struct arena *arena, const struct dataset *train)
{
    struct backend *backend = learner->backend;
    const struct learner_options *options = &learner->options;
    const size_t bytes = model_parameters(learner->model) * sizeof(float);
    const uint32_t most = options->batch_max ? options->batch_max : options->batch;
    const uint32_t devices = options->team ? (uint32_t)options->team->count : 1;
    const struct gradients_options cut = {.most = cut_of(learner, most, devices),
                                          .augment = options->augment,
                                          .smoothing = options->label_smoothing};
    CHECK(options->batch > 0 && options->batch <= most);
    learner->size = options->batch;
    learner->rate_factor = 1;
    learner->learners = 1;
    gradients_init(&learner->gradients, backend, learner->model, train, &cut);
    batch_init(&learner->batch, arena, train->count, dataset_stride(train), options->data_seed,
               options->data_node);
    for (uint32_t i = 0; i < optimizers[options->optimizer.kind].moments; i++)
        learner->moment[i] = backend->alloc(backend, bytes);
    learner->host_input = arena_alloc(arena, 1, gradients_input_bytes(&learner->gradients, most));
    if (options->team)
        learner->data_parallel =
            data_parallel_new(arena, options->team, learner->model, train, &cut);
}

static void evaluator_start(struct learner *learner, struct arena *arena,
                            const struct dataset *test)
{
    CHECK(learner->options.test_to <= test->count);
    CHECK(learner->options.test_from <= learner->options.test_to);
    learner->evaluator = evaluator_new(arena, learner->backend, learner->model, test);
}

struct learner *learner_new(struct arena *arena, struct backend *backend, struct model *model,
                            const struct dataset *train, const struct dataset *test,
                            const struct learner_options *options)
{
    struct learner *learner = arena_alloc(arena, 1, sizeof *learner);
    CHECK(options->density_max > 0 && (model || (!train && !test)));
    *learner = (struct learner){.backend = backend, .model = model, .options = *options};
    replica_start(learner, arena);
    if (options->holds)
        replica_allow_withholding(&learner->replica);
    if (options->averages)
        base_average_init(&learner->average, arena, learner_parameters(learner));
    if (train)
        train_start(learner, arena, train);
    if (test)
        evaluator_start(learner, arena, test);
    return learner;
}

void learner_reserve(struct learner *learner)
{
    struct backend *backend = learner->backend;
    const struct learner_options *options = &learner->options;
    CHECK(learner->steps == 0);
    if (backend->memory(backend).total == 0)
        return;
    backend->exchange->reserve(backend, learner_parameters(learner), options->density_max);
    if (learner_can_step(learner))
        gradients_reserve(&learner->gradients, learner->replica.own,
                          options->batch_max ? options->batch_max : options->batch);
    if (learner->evaluator)
        evaluator_reserve(learner->evaluator);
}

struct device_memory learner_memory(const struct learner *learner)
{
    return learner->backend->memory(learner->backend);
}

const struct model *learner_model(const struct learner *learner)
{
    return learner->model;
}

bool learner_can_step(const struct learner *learner)
{
    return learner->gradients.train.count > 0;
}

uint32_t learner_moments(const struct learner *learner)
{
    return learner_can_step(learner) ? optimizers[learner->options.optimizer.kind].moments : 0;
}

bool learner_reads_far(const struct learner *learner)
{
    return learner->gradients.train.far ||
           (learner->data_parallel && data_parallel_read_far(learner->data_parallel));
}

void learner_resize(struct learner *learner, uint32_t batch)
{
    CHECK(batch > 0);
    if (batch != learner->size)
        learner->backend->graph->drop(learner->backend, &learner->graph);
    if (batch != learner->size && learner->data_parallel)
        data_parallel_recut(learner->data_parallel);
    learner->size = batch;
}

void learner_set_batch(struct learner *learner, uint32_t batch)
{
    CHECK(batch > 0 && batch <= learner->options.batch_max);
    learner_resize(learner, batch);
}

uint32_t learner_batch(const struct learner *learner)
{
    return learner->size;
}

void learner_follow(struct learner *learner, uint64_t swarm_samples)
{
    learner->swarm_samples = u64_max(learner->swarm_samples, swarm_samples);
    CHECK(learner->swarm_samples >= swarm_samples);
}

void learner_count_learners(struct learner *learner, double learners)
{
    CHECK(learners >= 1);
    learner->learners = learners;
}

uint64_t learner_swarm_samples(const struct learner *learner)
{
    return learner->swarm_samples;
}

/* Returns the number of micro-batches of the next step, which may be fewer than configured. */
static uint32_t parts_in(const struct learner *learner)
{
    return rounded_up(learner->size, next_cut(learner).part);
}

/* Draws the dropout seed of each sample from the data seed, the epoch in which the batch begins,
 * and the sample's position. */
static void draw_all(struct learner *learner, uint64_t epoch)
{
    uint32_t *draw = gradients_draws(&learner->gradients, learner->host_input, learner->size);
    for (uint32_t i = 0; i < learner->size; i++) {
        struct rng rng =
            rng_new(learner->options.data_seed, epoch << 32 | learner->host_input->sample[i]);
        draw[i] = (uint32_t)rng_next(&rng);
    }
}

/* Draws the next step's input and uploads it in one piece: each upload takes a noticeable part of a
 * small model's step. */
static void upload_input(struct learner *learner)
{
    struct gradients *gradients = &learner->gradients;
    struct step_input *input = learner->host_input;
    const struct batch before = learner->batch;
    const size_t bytes = gradients_input_bytes(gradients, learner->size);
    batch_next(&learner->batch, learner->size, input->sample);
    if (model_drops(learner->model))
        draw_all(learner, before.epoch);
    augmenter_draw(&gradients->augmenter, &before, input->sample, learner->size,
                   gradients_augmentations(gradients, input, learner->size));
    learner->steps++;
    const struct swarm_progress swarm = {.samples = learner->swarm_samples,
                                         .learners = learner->learners};
    optimizer_step_set(&input->optimizer, &learner->options.optimizer, learner->model, swarm,
                       learner->steps, parts_in(learner));
    optimizer_step_scale(&input->optimizer, learner->rate_factor);
    learner->backend->upload(learner->backend, gradients->input, input, bytes);
    if (learner->data_parallel)
        data_parallel_upload(learner->data_parallel, input, bytes);
}

static void compute_own_gradients(struct learner *learner)
{
    const struct step_cut cut = next_cut(learner);
    gradients_compute(&learner->gradients, weights_all(learner->replica.trained), &cut, 0);
}

static void descend(struct learner *learner)
{
    optimizer_step_make(learner->backend, &learner->options.optimizer, learner->model,
                        &learner->gradients.input->optimizer, weights_all(learner->replica.trained),
                        learner->gradients.sum, learner->moment);
}

static uint32_t count_step(struct learner *learner)
{
    learner->samples += learner->size;
    learner->swarm_samples += learner->size;
    return learner->size;
}

/* All steps have the same operations, so the backend may replay their recording. */
static void step_alone(struct learner *learner)
{
    struct backend *backend = learner->backend;
    if (backend->graph->begin(backend, &learner->graph))
        return;
    compute_own_gradients(learner);
    descend(learner);
    backend->graph->end(backend, &learner->graph);
}

/* The other devices' gradients are added between this device's gradients and the optimizer, so the
 * step is recorded as two graphs. */
static void data_parallel_step(struct learner *learner)
{
    struct backend *backend = learner->backend;
    const struct step_cut cut = next_cut(learner);
    data_parallel_begin(learner->data_parallel, weights_all(learner->replica.trained), &cut);
    if (!backend->graph->begin(backend, &learner->graph)) {
        compute_own_gradients(learner);
        backend->graph->end(backend, &learner->graph);
    }
    data_parallel_end(learner->data_parallel, learner->gradients.sum);
    if (!backend->graph->begin(backend, &learner->descent)) {
        descend(learner);
        backend->graph->end(backend, &learner->descent);
    }
}

uint32_t learner_step(struct learner *learner)
{
    CHECK(learner_can_step(learner) && !learner->is_halfway);
    learner->backend->watch->begin(learner->backend, learner->size);
    upload_input(learner);
    if (learner->data_parallel)
        data_parallel_step(learner);
    else
        step_alone(learner);
    learner->backend->watch->end(learner->backend);
    return count_step(learner);
}

void learner_scale_rate(struct learner *learner, double factor)
{
    CHECK(factor > 0);
    learner->rate_factor = (float)factor;
}

void learner_gradient(struct learner *learner, float *host)
{
    CHECK(learner_can_step(learner) && !learner->is_halfway);
    const struct step_cut cut = next_cut(learner);
    upload_input(learner);
    if (learner->data_parallel)
        data_parallel_begin(learner->data_parallel, weights_all(learner->replica.trained), &cut);
    compute_own_gradients(learner);
    if (learner->data_parallel)
        data_parallel_end(learner->data_parallel, learner->gradients.sum);
    learner->backend->download(learner->backend, host, learner->gradients.sum,
                               learner->replica.parameters * sizeof *host);
    learner->is_halfway = true;
}

uint32_t learner_descend(struct learner *learner, const float *host)
{
    CHECK(learner->is_halfway);
    learner->backend->upload(learner->backend, learner->gradients.sum, host,
                             learner->replica.parameters * sizeof *host);
    descend(learner);
    learner->is_halfway = false;
    return count_step(learner);
}

uint32_t learner_descend_plainly(struct learner *learner, const float *host)
{
    CHECK(learner->is_halfway);
    const struct optimizer plain = {.kind = OPTIMIZER_SGD};
    struct optimizer_step *step = &learner->host_input->optimizer;
    step->sgd = (struct sgd){.rate = step->sgd.rate};
    learner->backend->upload(learner->backend, &learner->gradients.input->optimizer, step,
                             sizeof *step);
    learner->backend->upload(learner->backend, learner->gradients.sum, host,
                             learner->replica.parameters * sizeof *host);
    optimizer_step_make(learner->backend, &plain, learner->model,
                        &learner->gradients.input->optimizer, weights_all(learner->replica.trained),
                        learner->gradients.sum, learner->moment);
    learner->is_halfway = false;
    return count_step(learner);
}

double learner_losses(struct learner *learner)
{
    CHECK(learner_can_step(learner));
    double loss = gradients_take_score(&learner->gradients).loss;
    if (learner->data_parallel)
        loss += data_parallel_take_loss(learner->data_parallel);
    return loss / (double)shape_positions(model_input(learner->model));
}

/* Gives the evaluator the base with these updates added. */
static void show_base_with(struct learner *learner, const struct update *updates,
                           uint32_t updates_count)
{
    const size_t parameters = model_parameters(learner->model);
    CHECK(learner->evaluator);
    for (size_t first = 0; first < parameters; first += EVALUATED_PART) {
        const size_t left = parameters - first;
        const size_t count = size_min(left, EVALUATED_PART);
        float part[EVALUATED_PART];
        replica_read_with(&learner->replica, updates, updates_count, first, count, part);
        evaluator_set_part(learner->evaluator, first, count, part);
    }
}

void learner_show_base(struct learner *learner)
{
    show_base_with(learner, NULL, 0);
}

bool learner_inference_shape(const struct learner *learner, struct inference_shape *shape)
{
    const struct device_dataset *test =
        learner->evaluator ? evaluator_test(learner->evaluator) : NULL;
    if (!test || test->token_bytes > 0)
        return false;
    *shape = (struct inference_shape){
        .shape = model_input(learner->model),
        .is_floats = test->is_floats,
        .bytes = test->sample_size * (test->is_floats ? sizeof(float) : 1),
        .outputs = model_outputs(learner->model),
        .is_regression = test->y_numbers != NULL,
    };
    return true;
}

void learner_predict(struct learner *learner, const uint8_t *samples, size_t bytes, uint32_t count,
                     float *numbers)
{
    struct inference_shape shape;
    CHECK(learner_inference_shape(learner, &shape) && bytes == count * shape.bytes);
    learner_show_base(learner);
    evaluator_predict(learner->evaluator, samples, count, numbers);
}

uint32_t learner_tests(const struct learner *learner, bool all)
{
    if (!learner->evaluator)
        return 0;
    return all ? evaluator_samples(learner->evaluator)
               : learner->options.test_to - learner->options.test_from;
}

static struct evaluation score(struct learner *learner, bool all)
{
    return evaluator_score(learner->evaluator, all ? 0 : learner->options.test_from,
                           all ? evaluator_samples(learner->evaluator) : learner->options.test_to);
}

struct evaluation learner_evaluate(struct learner *learner, bool all)
{
    if (!learner->evaluator)
        return (struct evaluation){0};
    learner_show_base(learner);
    return score(learner, all);
}

/* Returns the loss in nats; for a regression, the squared error divided by the targets'
 * variance. */
static double unexplained(const struct evaluation *evaluation)
{
    return evaluation->is_regression ? 1 - evaluation_r2(evaluation) : evaluation->loss;
}

struct base_trial learner_trial(struct learner *learner, const struct update *updates,
                                uint32_t count, uint32_t tried)
{
    CHECK(tried <= count);
    if (learner_tests(learner, false) == 0)
        return (struct base_trial){0};
    show_base_with(learner, updates + tried, count - tried);
    const struct evaluation before = score(learner, false);
    show_base_with(learner, updates, count);
    const struct evaluation after = score(learner, false);
    return (struct base_trial){.samples = before.samples,
                               .before = evaluation_accuracy(&before),
                               .after = evaluation_accuracy(&after),
                               .loss_before = unexplained(&before),
                               .loss_after = unexplained(&after)};
}

struct evaluation learner_evaluate_average(struct learner *learner, bool all)
{
    const float *mean = learner_average(learner);
    if (!learner->evaluator || !mean)
        return (struct evaluation){0};
    evaluator_set_part(learner->evaluator, 0, learner_parameters(learner), mean);
    return score(learner, all);
}

void learner_free(struct learner *learner)
{
    if (learner_can_step(learner)) {
        learner->backend->graph->drop(learner->backend, &learner->graph);
        learner->backend->graph->drop(learner->backend, &learner->descent);
        for (uint32_t i = 0; i < learner_moments(learner); i++)
            learner->backend->free(learner->backend, learner->moment[i]);
        if (learner->data_parallel)
            data_parallel_free(learner->data_parallel);
        gradients_free(&learner->gradients);
    }
    if (learner->evaluator)
        evaluator_free(learner->evaluator);
    replica_free(&learner->replica);
}
