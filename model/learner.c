#include "learner.h"

#include <stdlib.h>

#include "status.h"

/* A dataset on the backend. */
struct shelf {
    uint8_t *pixels;
    uint8_t *labels;
    uint32_t count;
    size_t sample_size;
    float mean;
    float scale;
};

struct learner {
    struct backend *backend;
    struct model *model;
    struct replica replica;
    struct learner_options options;
    struct shelf train;
    struct shelf test;
    struct batch batch;
    uint64_t samples;

    uint32_t *pick;   /* [batch_max], host */
    float *x;         /* [batch_max, in] */
    uint8_t *y;       /* [batch_max] */
    float *gradients; /* [P] */
    float *momentum;  /* [P] */
    float *scored;    /* [P], the base as weights while it is evaluated */
    float *host;      /* [P], host: the base on its way there */
};

static struct shelf shelf_new(struct backend *backend, const struct dataset *dataset)
{
    if (!dataset)
        return (struct shelf){0};
    struct shelf shelf = {.count = dataset->count,
                          .sample_size = shape_size(dataset->shape),
                          .mean = dataset->mean,
                          .scale = dataset->scale};
    const size_t bytes = shelf.count * shelf.sample_size;
    shelf.pixels = backend->take(backend, bytes);
    shelf.labels = backend->take(backend, shelf.count);
    backend->upload(backend, shelf.pixels, dataset->pixels, bytes);
    backend->upload(backend, shelf.labels, dataset->labels, shelf.count);
    return shelf;
}

static void shelf_free(struct backend *backend, struct shelf *shelf)
{
    if (!shelf->pixels)
        return;
    backend->give(backend, shelf->pixels);
    backend->give(backend, shelf->labels);
}

/* Gather `size` samples named in pick into x and y. */
static void fetch(struct learner *learner, const struct shelf *shelf, uint32_t size)
{
    struct backend *backend = learner->backend;
    backend->gather(backend, (int)size, shelf->sample_size, shelf->pixels, shelf->labels,
                    learner->pick, shelf->mean, shelf->scale, learner->x, learner->y);
}

static void replica_start(struct learner *learner, struct arena *arena)
{
    const size_t parameters = model_parameters(learner->model);
    float *init = malloc(parameters * sizeof *init);
    CHECK(init);
    model_init(learner->model, learner->options.model_seed, init);
    replica_init(&learner->replica, arena, learner->backend, parameters, init,
                 learner->options.told_max);
    free(init);
}

struct learner *learner_new(struct arena *arena, struct backend *backend, struct model *model,
                            const struct dataset *train, const struct dataset *test,
                            const struct learner_options *options)
{
    const uint32_t batch_max = (uint32_t)model_batch_max(model);
    const size_t parameter_bytes = model_parameters(model) * sizeof(float);
    CHECK(options->batch > 0 && options->batch <= batch_max);
    CHECK(!test || options->test_to <= test->count);
    struct learner *learner = arena_take(arena, 1, sizeof *learner);
    *learner = (struct learner){
        .backend = backend,
        .model = model,
        .options = *options,
        .train = shelf_new(backend, train),
        .test = shelf_new(backend, test),
        .pick = arena_take(arena, batch_max, sizeof *learner->pick),
        .x = backend->take(backend, batch_max * shape_size(model_input(model)) * sizeof(float)),
        .y = backend->take(backend, batch_max),
    };
    if (train) {
        batch_init(&learner->batch, arena, train->count, options->data_seed, options->data_node);
        learner->gradients = backend->take(backend, parameter_bytes);
        learner->momentum = backend->take(backend, parameter_bytes);
    }
    if (test) {
        learner->scored = backend->take(backend, parameter_bytes);
        learner->host = arena_take(arena, model_parameters(model), sizeof(float));
    }
    replica_start(learner, arena);
    return learner;
}

bool learner_can_step(const struct learner *learner)
{
    return learner->train.count > 0;
}

struct step learner_step(struct learner *learner)
{
    CHECK(learner_can_step(learner));
    const uint32_t size = learner->options.batch;
    batch_next(&learner->batch, size, learner->pick);
    fetch(learner, &learner->train, size);
    uint32_t correct;
    double loss = model_learn(learner->model, learner->replica.weights, learner->gradients,
                              learner->x, learner->y, (int)size, &correct);
    struct sgd sgd = optimizer_at(&learner->options.optimizer, learner->samples);
    learner->backend->sgd(learner->backend, &sgd, learner->replica.parameters,
                          learner->replica.weights, learner->gradients, learner->momentum);
    learner->samples += size;
    return (struct step){.samples = size, .loss = loss};
}

const struct update *learner_tell(struct learner *learner, const struct tell *tell)
{
    return replica_tell(&learner->replica, tell);
}

void learner_hear(struct learner *learner, const struct update *update)
{
    replica_hear(&learner->replica, update);
}

struct evaluation learner_evaluate(struct learner *learner, bool all)
{
    uint32_t from = all ? 0 : learner->options.test_from;
    uint32_t to = all ? learner->test.count : learner->options.test_to;
    if (from >= to)
        return (struct evaluation){0};
    replica_read_base(&learner->replica, learner->host);
    learner->backend->upload(learner->backend, learner->scored, learner->host,
                             learner->replica.parameters * sizeof *learner->host);
    struct evaluation evaluation = {.samples = to - from};
    const uint32_t batch_max = (uint32_t)model_batch_max(learner->model);
    while (from < to) {
        uint32_t size = to - from < batch_max ? to - from : batch_max;
        for (uint32_t i = 0; i < size; i++)
            learner->pick[i] = from + i;
        fetch(learner, &learner->test, size);
        uint32_t correct;
        evaluation.loss += model_score(learner->model, learner->scored, learner->x, learner->y,
                                       (int)size, &correct);
        evaluation.correct += correct;
        from += size;
    }
    evaluation.loss /= evaluation.samples;
    return evaluation;
}

uint64_t learner_digest(const struct learner *learner)
{
    return replica_digest(&learner->replica);
}

size_t learner_parameters(const struct learner *learner)
{
    return learner->replica.parameters;
}

uint64_t learner_samples(const struct learner *learner)
{
    return learner->samples;
}

void learner_read_base(const struct learner *learner, float *host)
{
    replica_read_base(&learner->replica, host);
}

void learner_free(struct learner *learner)
{
    struct backend *backend = learner->backend;
    shelf_free(backend, &learner->train);
    shelf_free(backend, &learner->test);
    backend->give(backend, learner->x);
    backend->give(backend, learner->y);
    if (learner->gradients) {
        backend->give(backend, learner->gradients);
        backend->give(backend, learner->momentum);
    }
    if (learner->scored)
        backend->give(backend, learner->scored);
    replica_free(&learner->replica);
}
