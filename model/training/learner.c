#include "training/learner.h"

#include <stdlib.h>

#include "data/device_dataset.h"
#include "base/error.h"

/* What differs from step to step. */
struct orders {
    union {
        struct sgd sgd;
        struct adam adam;
    };
    uint32_t pick[]; /* [batch_max]: the samples */
};

struct learner {
    struct backend *backend;
    struct model *model;
    struct replica replica;
    struct learner_options options;
    uint64_t samples;
    uint64_t swarm_samples;

    struct device_dataset
        train; /* this and all up to the exam only if there is something to train on */
    struct batch batch;
    uint32_t size;                      /* of a batch, now */
    float *gradients;                   /* [P] */
    float *moment[LEARNER_MOMENTS_MAX]; /* [learner_moments][P] */
    uint64_t steps;                     /* that the moments have been through */
    struct orders *host_orders;         /* for the step being made ... */
    struct orders *orders;              /* ... where the backend reads them */
    struct score *score;                /* of the steps since it was last asked for */
    struct sequence sequence;           /* a step */

    struct evaluator *evaluator; /* this and the next only if there is something to test with */
    float *host;                 /* [P], host: the base on its way to the exam */
};

static void replica_start(struct learner *learner, struct arena *arena)
{
    const size_t parameters = model_parameters(learner->model);
    const float *start = learner->options.start;
    float *drawn = start ? NULL : malloc(parameters * sizeof *drawn);
    CHECK(start || drawn);
    if (!start)
        model_init(learner->model, learner->options.model_seed, drawn);
    replica_init(&learner->replica, arena, learner->backend, parameters, start ? start : drawn,
                 learner->options.density_max);
    learner->options.start = NULL;
    free(drawn);
}

static size_t orders_bytes(uint32_t batch)
{
    return sizeof(struct orders) + batch * sizeof(uint32_t);
}

static void train_start(struct learner *learner, struct arena *arena, const struct dataset *train)
{
    struct backend *backend = learner->backend;
    const struct learner_options *options = &learner->options;
    const size_t bytes = model_parameters(learner->model) * sizeof(float);
    const uint32_t most = options->batch_max ? options->batch_max : options->batch;
    CHECK(options->batch > 0 && options->batch <= most);
    CHECK(most <= (uint32_t)model_batch_max(learner->model));
    learner->size = options->batch;
    device_dataset_init(&learner->train, backend, train, most);
    batch_init(&learner->batch, arena, train->count, options->data_seed, options->data_node);
    learner->gradients = backend->take(backend, bytes);
    for (uint32_t i = 0; i < optimizer_moments(&options->optimizer); i++)
        learner->moment[i] = backend->take(backend, bytes);
    learner->host_orders = arena_take(arena, 1, orders_bytes(most));
    learner->orders = backend->take(backend, orders_bytes(most));
    learner->score = backend->take(backend, sizeof *learner->score);
}

static void evaluator_start(struct learner *learner, struct arena *arena,
                            const struct dataset *test)
{
    CHECK(learner->options.test_to <= test->count);
    learner->evaluator = evaluator_new(arena, learner->backend, learner->model, test);
    learner->host = arena_take(arena, model_parameters(learner->model), sizeof *learner->host);
}

struct learner *learner_new(struct arena *arena, struct backend *backend, struct model *model,
                            const struct dataset *train, const struct dataset *test,
                            const struct learner_options *options)
{
    struct learner *learner = arena_take(arena, 1, sizeof *learner);
    *learner = (struct learner){.backend = backend, .model = model, .options = *options};
    replica_start(learner, arena);
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

static void resize(struct learner *learner, uint32_t batch)
{
    if (batch != learner->size)
        learner->backend->sequence_drop(learner->backend, &learner->sequence);
    learner->size = batch;
}

void learner_set_batch(struct learner *learner, uint32_t batch)
{
    CHECK(batch > 0 && batch <= learner->options.batch_max);
    resize(learner, batch);
}

uint32_t learner_batch(const struct learner *learner)
{
    return learner->size;
}

void learner_follow(struct learner *learner, uint64_t swarm_samples)
{
    if (learner->swarm_samples < swarm_samples)
        learner->swarm_samples = swarm_samples;
}

uint64_t learner_swarm_samples(const struct learner *learner)
{
    return learner->swarm_samples;
}

/* Which samples, and how far the weights follow: in one piece, since each upload takes a small
 * model a part of its step. */
static void give_orders(struct learner *learner)
{
    const struct optimizer *optimizer = &learner->options.optimizer;
    struct orders *orders = learner->host_orders;
    batch_next(&learner->batch, learner->size, orders->pick);
    learner->steps++;
    if (optimizer->kind == OPTIMIZER_ADAM)
        orders->adam = optimizer_adam_at(optimizer, learner->swarm_samples, learner->steps);
    else
        orders->sgd = optimizer_at(optimizer, learner->swarm_samples);
    learner->backend->upload(learner->backend, learner->orders, orders,
                             orders_bytes(learner->size));
}

/* The weights follow the gradients. */
static void optimize(struct learner *learner)
{
    struct backend *backend = learner->backend;
    float *weights = learner->replica.weights;
    const size_t parameters = learner->replica.parameters;
    if (learner->options.optimizer.kind == OPTIMIZER_ADAM)
        backend->adam(backend, &learner->orders->adam, parameters, weights, learner->gradients,
                      learner->moment[0], learner->moment[1]);
    else
        backend->sgd(backend, &learner->orders->sgd, parameters, weights, learner->gradients,
                     learner->moment[0]);
}

/* What is the same in all steps. */
static void learn(struct learner *learner)
{
    device_dataset_gather(&learner->train, learner->orders->pick, learner->size);
    model_learn(learner->model, learner->replica.weights, learner->gradients, learner->train.x,
                learner->train.y, (int)learner->size, learner->score);
    optimize(learner);
}

uint32_t learner_step(struct learner *learner)
{
    CHECK(learner_can_step(learner));
    struct backend *backend = learner->backend;
    give_orders(learner);
    if (!backend->sequence_begin(backend, &learner->sequence)) {
        learn(learner);
        backend->sequence_end(backend, &learner->sequence);
    }
    learner->samples += learner->size;
    learner->swarm_samples += learner->size;
    return learner->size;
}

double learner_losses(struct learner *learner)
{
    CHECK(learner_can_step(learner));
    struct score score;
    learner->backend->download(learner->backend, &score, learner->score, sizeof score);
    learner->backend->upload(learner->backend, learner->score, &(struct score){0}, sizeof score);
    return score.loss;
}

const struct update *learner_publish(struct learner *learner, const struct publish_terms *terms)
{
    learner_follow(learner, terms->swarm_samples);
    return replica_publish(&learner->replica, terms);
}

void learner_apply(struct learner *learner, const struct update *update)
{
    replica_apply(&learner->replica, update);
}

void learner_apply_own(struct learner *learner, const struct update *update)
{
    replica_apply_own(&learner->replica, update);
}

struct evaluation learner_evaluate(struct learner *learner, bool all)
{
    if (!learner->evaluator)
        return (struct evaluation){0};
    replica_read_base(&learner->replica, learner->host);
    return evaluator_mark(learner->evaluator, learner->host, all ? 0 : learner->options.test_from,
                          all ? evaluator_samples(learner->evaluator) : learner->options.test_to);
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

void learner_read_units(const struct learner *learner, int32_t *host)
{
    replica_read_units(&learner->replica, host);
}

void learner_read_weights(const struct learner *learner, float *host)
{
    replica_read_weights(&learner->replica, host);
}

void learner_write_weights(struct learner *learner, const float *host)
{
    replica_write_weights(&learner->replica, host);
}

void learner_read_block(const struct learner *learner, size_t first, size_t count, int32_t *host)
{
    replica_read_block(&learner->replica, first, count, host);
}

void learner_write_block(struct learner *learner, size_t first, size_t count, const int32_t *host,
                         bool keep_weights)
{
    replica_write_block(&learner->replica, first, count, host, keep_weights);
}

void learner_save(const struct learner *learner, struct learner_state *state)
{
    struct backend *backend = learner->backend;
    CHECK(state->moments == learner_moments(learner));
    replica_save(&learner->replica, state);
    for (uint32_t i = 0; i < state->moments; i++)
        backend->download(backend, state->moment[i], learner->moment[i],
                          state->parameters * sizeof(float));
    state->steps = learner->steps;
    state->samples = learner->samples;
    state->swarm_samples = learner->swarm_samples;
    state->epoch = learner->batch.epoch;
    state->at = learner->batch.at;
    state->batch = learner->size;
    state->random_walk = 0;
}

void learner_restore(struct learner *learner, const struct learner_state *state)
{
    struct backend *backend = learner->backend;
    CHECK(state->moments == learner_moments(learner));
    replica_restore(&learner->replica, state);
    learner->samples = state->samples;
    learner->swarm_samples = state->swarm_samples;
    learner->steps = state->steps;
    for (uint32_t i = 0; i < state->moments; i++)
        backend->upload(backend, learner->moment[i], state->moment[i],
                        state->parameters * sizeof(float));
    if (learner_can_step(learner))
        batch_seek(&learner->batch, state->epoch, state->at);
    if (state->batch > 0 && state->batch <= learner->options.batch_max)
        resize(learner, state->batch);
}

void learner_free(struct learner *learner)
{
    if (learner_can_step(learner)) {
        device_dataset_free(&learner->train);
        learner->backend->sequence_drop(learner->backend, &learner->sequence);
        learner->backend->give(learner->backend, learner->gradients);
        learner->backend->give(learner->backend, learner->orders);
        learner->backend->give(learner->backend, learner->score);
        for (uint32_t i = 0; i < learner_moments(learner); i++)
            learner->backend->give(learner->backend, learner->moment[i]);
    }
    if (learner->evaluator)
        evaluator_free(learner->evaluator);
    replica_free(&learner->replica);
}
