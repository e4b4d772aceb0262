#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/rng.h"
#include "training/answering.h"
#include "training/learner_private.h"
#include "training/optimizer_step.h"

#define START_PART     ((size_t)1 << 16) /* first weights that are drawn at once */
#define EVALUATED_PART 4096              /* entries of the base that are read at once */

/* What differs from step to step, uploaded in one piece. */
struct step_input {
    struct optimizer_step optimizer;
    uint32_t sample[]; /* [size]; behind them their augmentations, and of dropout their draws */
};

/* A part at a time: memory that is touched for the first time costs more than the drawing. */
static void draw_start(struct learner *learner)
{
    const size_t parameters = model_parameters(learner->model);
    float *part = memory_new(START_PART, sizeof *part);
    for (size_t first = 0; first < parameters; first += START_PART) {
        const size_t left = parameters - first, count = left < START_PART ? left : START_PART;
        model_init_part(learner->model, learner->options.model_seed, first, count, part);
        replica_begin_part(&learner->replica, first, count, part);
    }
    free(part);
}

static void replica_start(struct learner *learner, struct arena *arena)
{
    const struct learner_options *options = &learner->options;
    CHECK(learner->model || (options->start && options->parameters > 0));
    replica_init(&learner->replica, arena, learner->backend,
                 learner->model ? model_parameters(learner->model) : options->parameters,
                 options->start, options->density_max);
    if (!learner->options.start)
        draw_start(learner);
    learner->options.start = NULL;
}

static size_t step_input_bytes(const struct learner *learner, uint32_t batch)
{
    CHECK(batch > 0);
    const size_t numbers = model_drops(learner->model) ? 2 : 1;
    return sizeof(struct step_input) + numbers * batch * sizeof(uint32_t) +
           augmenter_bytes(&learner->augmenter, batch);
}

/* Where the parts of a step's input lie, of the host's or the backend's. */
static struct augmentation *augmentations(const struct learner *learner, struct step_input *input)
{
    return (struct augmentation *)(void *)(input->sample + learner->size);
}

static uint32_t *draws(const struct learner *learner, struct step_input *input)
{
    return input->sample + learner->size +
           augmenter_bytes(&learner->augmenter, learner->size) / sizeof(uint32_t);
}

static uint32_t parts_of(const struct learner *learner)
{
    return learner->options.micro_batches > 1 ? learner->options.micro_batches : 1;
}

/* Samples of each part of a step, but that the last has what is left. */
static uint32_t part_of(const struct learner *learner, uint32_t batch)
{
    return (batch + parts_of(learner) - 1) / parts_of(learner);
}

static void train_start(struct learner *learner, struct arena *arena, const struct dataset *train)
{
    struct backend *backend = learner->backend;
    const struct learner_options *options = &learner->options;
    const size_t bytes = model_parameters(learner->model) * sizeof(float);
    const uint32_t most = options->batch_max ? options->batch_max : options->batch;
    CHECK(options->batch > 0 && options->batch <= most);
    CHECK(part_of(learner, most) <= (uint32_t)model_batch_max(learner->model));
    learner->size = options->batch;
    device_dataset_init(&learner->train, backend, train, part_of(learner, most));
    augmenter_init(&learner->augmenter, &options->augment, backend, train, part_of(learner, most));
    batch_init(&learner->batch, arena, train->count, dataset_stride(train), options->data_seed,
               options->data_node);
    learner->gradients = backend->take(backend, bytes);
    learner->part_gradients = parts_of(learner) > 1 ? backend->take(backend, bytes) : NULL;
    for (uint32_t i = 0; i < optimizer_moments(&options->optimizer); i++)
        learner->moment[i] = backend->take(backend, bytes);
    learner->host_input = arena_take(arena, 1, step_input_bytes(learner, most));
    learner->input = backend->take(backend, step_input_bytes(learner, most));
    learner->score = backend->take(backend, sizeof *learner->score);
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
    struct learner *learner = arena_take(arena, 1, sizeof *learner);
    CHECK(options->density_max > 0 && (model || (!train && !test)));
    *learner = (struct learner){.backend = backend, .model = model, .options = *options};
    replica_start(learner, arena);
    if (options->holds)
        replica_may_hold(&learner->replica);
    if (train)
        train_start(learner, arena, train);
    if (test)
        evaluator_start(learner, arena, test);
    return learner;
}

bool learner_can_step(const struct learner *learner)
{
    return learner->train.count > 0;
}

uint32_t learner_moments(const struct learner *learner)
{
    return learner_can_step(learner) ? optimizer_moments(&learner->options.optimizer) : 0;
}

bool learner_reads_far(const struct learner *learner)
{
    return learner->train.far;
}

void learner_resize(struct learner *learner, uint32_t batch)
{
    CHECK(batch > 0);
    if (batch != learner->size)
        learner->backend->sequence_drop(learner->backend, &learner->sequence);
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
    if (learner->swarm_samples < swarm_samples)
        learner->swarm_samples = swarm_samples;
    CHECK(learner->swarm_samples >= swarm_samples);
}

uint64_t learner_swarm_samples(const struct learner *learner)
{
    return learner->swarm_samples;
}

/* Parts that the next step has: as many as wanted, or fewer of a small one. */
static uint32_t parts_in(const struct learner *learner)
{
    const uint32_t most = part_of(learner, learner->size);
    return (learner->size + most - 1) / most;
}

/* What dropout drops follows from the seed, the epoch and the sample. */
static void draw_all(struct learner *learner, uint64_t epoch)
{
    uint32_t *draw = draws(learner, learner->host_input);
    for (uint32_t i = 0; i < learner->size; i++) {
        struct rng rng =
            rng_new(learner->options.data_seed, epoch << 32 | learner->host_input->sample[i]);
        draw[i] = (uint32_t)rng_next(&rng);
    }
}

/* One upload: each one costs a small model a noticeable part of its step. */
static void upload_input(struct learner *learner)
{
    CHECK(learner->size > 0 && part_of(learner, learner->size) <= learner->train.batch_max);
    struct step_input *input = learner->host_input;
    const struct batch before = learner->batch;
    batch_next(&learner->batch, learner->size, input->sample);
    if (model_drops(learner->model))
        draw_all(learner, before.epoch);
    augmenter_draw(&learner->augmenter, &before, input->sample, learner->size,
                   augmentations(learner, input));
    learner->steps++;
    optimizer_step_set(&input->optimizer, &learner->options.optimizer, learner->model,
                       learner->swarm_samples, learner->steps, parts_in(learner));
    learner->backend->upload(learner->backend, learner->input, input,
                             step_input_bytes(learner, learner->size));
}

/* The gradients of some of the samples, added to those of the parts before. */
static void learn_part(struct learner *learner, uint32_t first, uint32_t samples)
{
    struct backend *backend = learner->backend;
    const uint32_t *sample = learner->input->sample;
    float *gradients = first == 0 ? learner->gradients : learner->part_gradients;
    device_dataset_gather(&learner->train, sample + first, samples);
    const struct model_part part = {
        .x = augmenter_apply(&learner->augmenter, backend,
                             augmentations(learner, learner->input) + first, learner->train.x,
                             samples),
        .labels = learner->train.y_numbers ? NULL : learner->train.y,
        .numbers = learner->train.y_numbers,
        .samples = (int)samples,
        .of = (int)learner->size,
        .smoothing = learner->options.label_smoothing,
        .draws = model_drops(learner->model) ? draws(learner, learner->input) + first : NULL,
    };
    model_learn_part(learner->model, weights_all(learner->replica.weights), gradients, &part,
                     learner->score);
    if (first > 0)
        backend->add(backend, learner->replica.parameters, learner->gradients, gradients,
                     learner->gradients);
}

static void compute_gradients(struct learner *learner)
{
    const uint32_t most = part_of(learner, learner->size);
    for (uint32_t first = 0; first < learner->size; first += most)
        learn_part(learner, first, learner->size - first < most ? learner->size - first : most);
}

static void descend(struct learner *learner)
{
    optimizer_step_make(learner->backend, &learner->options.optimizer, learner->model,
                        &learner->input->optimizer, weights_all(learner->replica.weights),
                        learner->gradients, learner->moment);
}

static uint32_t count_step(struct learner *learner)
{
    learner->samples += learner->size;
    learner->swarm_samples += learner->size;
    return learner->size;
}

uint32_t learner_step(struct learner *learner)
{
    CHECK(learner_can_step(learner) && !learner->is_halfway);
    struct backend *backend = learner->backend;
    upload_input(learner);
    if (!backend->sequence_begin(backend, &learner->sequence)) { /* the same in each step */
        compute_gradients(learner);
        descend(learner);
        backend->sequence_end(backend, &learner->sequence);
    }
    return count_step(learner);
}

void learner_gradient(struct learner *learner, float *host)
{
    CHECK(learner_can_step(learner) && !learner->is_halfway);
    upload_input(learner);
    compute_gradients(learner);
    learner->backend->download(learner->backend, host, learner->gradients,
                               learner->replica.parameters * sizeof *host);
    learner->is_halfway = true;
}

uint32_t learner_descend(struct learner *learner, const float *host)
{
    CHECK(learner->is_halfway);
    learner->backend->upload(learner->backend, learner->gradients, host,
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
    learner->backend->upload(learner->backend, &learner->input->optimizer, step, sizeof *step);
    learner->backend->upload(learner->backend, learner->gradients, host,
                             learner->replica.parameters * sizeof *host);
    optimizer_step_make(learner->backend, &plain, learner->model, &learner->input->optimizer,
                        weights_all(learner->replica.weights), learner->gradients, learner->moment);
    learner->is_halfway = false;
    return count_step(learner);
}

double learner_losses(struct learner *learner)
{
    CHECK(learner_can_step(learner));
    struct score score;
    learner->backend->download(learner->backend, &score, learner->score, sizeof score);
    learner->backend->upload(learner->backend, learner->score, &(struct score){0}, sizeof score);
    return score.loss / (double)shape_positions(model_input(learner->model));
}

static void show_base(struct learner *learner)
{
    const size_t parameters = model_parameters(learner->model);
    CHECK(learner->evaluator);
    for (size_t first = 0; first < parameters; first += EVALUATED_PART) {
        const size_t left = parameters - first;
        const size_t count = left < EVALUATED_PART ? left : EVALUATED_PART;
        float part[EVALUATED_PART];
        replica_read_base_part(&learner->replica, first, count, part);
        evaluator_set_part(learner->evaluator, first, count, part);
    }
}

bool learner_question_shape(const struct learner *learner, struct question_shape *shape)
{
    const struct device_dataset *test =
        learner->evaluator ? evaluator_test(learner->evaluator) : NULL;
    if (!test || test->token_bytes > 0)
        return false;
    *shape = (struct question_shape){
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
    struct question_shape shape;
    CHECK(learner_question_shape(learner, &shape) && bytes == count * shape.bytes);
    show_base(learner);
    evaluator_predict(learner->evaluator, samples, count, numbers);
}

struct evaluation learner_evaluate(struct learner *learner, bool all)
{
    if (!learner->evaluator)
        return (struct evaluation){0};
    show_base(learner);
    return evaluator_score(learner->evaluator, all ? 0 : learner->options.test_from,
                           all ? evaluator_samples(learner->evaluator) : learner->options.test_to);
}

void learner_free(struct learner *learner)
{
    if (learner_can_step(learner)) {
        device_dataset_free(&learner->train);
        augmenter_free(&learner->augmenter, learner->backend);
        learner->backend->sequence_drop(learner->backend, &learner->sequence);
        learner->backend->give(learner->backend, learner->gradients);
        if (learner->part_gradients)
            learner->backend->give(learner->backend, learner->part_gradients);
        learner->backend->give(learner->backend, learner->input);
        learner->backend->give(learner->backend, learner->score);
        for (uint32_t i = 0; i < learner_moments(learner); i++)
            learner->backend->give(learner->backend, learner->moment[i]);
    }
    if (learner->evaluator)
        evaluator_free(learner->evaluator);
    replica_free(&learner->replica);
}
