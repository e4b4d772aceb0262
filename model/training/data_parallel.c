#include "training/data_parallel.h"

#include "base/error.h"
#include "layers/model_copy.h"

/* A device of the learner other than the first. */
struct worker {
    struct model *model;
    float *weights; /* [P] copy of the learner's weights on this device */
    struct gradients gradients;
    struct step_graph graph; /* recording of this device's share of a step */
};

struct data_parallel {
    struct team *team; /* not owned */
    size_t parameters; /* P, the model's number of parameters */
    int count;
    struct worker worker[TEAM_MAX - 1];
};

struct data_parallel *data_parallel_new(struct arena *arena, struct team *team,
                                        const struct model *model, const struct dataset *train,
                                        const struct gradients_options *options)
{
    struct data_parallel *workers = arena_alloc(arena, 1, sizeof *workers);
    CHECK(team->count >= 2 && team->count <= TEAM_MAX);
    *workers = (struct data_parallel){
        .team = team, .parameters = model_parameters(model), .count = team->count - 1};
    for (int i = 0; i < workers->count; i++) {
        struct worker *worker = &workers->worker[i];
        struct backend *backend = team->backend[i + 1];
        worker->model = model_copy(model, arena, backend, (int)options->most.part);
        worker->weights = backend->alloc(backend, workers->parameters * sizeof *worker->weights);
        gradients_init(&worker->gradients, backend, worker->model, train, options);
    }
    return workers;
}

uint32_t data_parallel_devices(const struct data_parallel *workers)
{
    return (uint32_t)workers->count + 1;
}

void data_parallel_upload(struct data_parallel *workers, const struct step_input *host,
                          size_t bytes)
{
    for (int i = 0; i < workers->count; i++) {
        const struct gradients *gradients = &workers->worker[i].gradients;
        gradients->backend->upload(gradients->backend, gradients->input, host, bytes);
    }
}

void data_parallel_begin(struct data_parallel *workers, float *weights, const struct step_cut *cut)
{
    float *all[TEAM_MAX] = {weights};
    for (int i = 0; i < workers->count; i++)
        all[i + 1] = workers->worker[i].weights;
    workers->team->broadcast(workers->team, all, workers->parameters);
    for (int i = 0; i < workers->count; i++) {
        struct worker *worker = &workers->worker[i];
        struct backend *backend = worker->gradients.backend;
        if (backend->graph->begin(backend, &worker->graph))
            continue;
        gradients_compute(&worker->gradients, worker->weights, cut, (uint32_t)i + 1);
        backend->graph->end(backend, &worker->graph);
    }
}

void data_parallel_end(struct data_parallel *workers, float *sum)
{
    float *all[TEAM_MAX] = {sum};
    for (int i = 0; i < workers->count; i++)
        all[i + 1] = workers->worker[i].gradients.sum;
    workers->team->reduce(workers->team, all, workers->parameters);
}

void data_parallel_recut(struct data_parallel *workers)
{
    for (int i = 0; i < workers->count; i++) {
        struct worker *worker = &workers->worker[i];
        struct backend *backend = worker->gradients.backend;
        backend->graph->drop(backend, &worker->graph);
    }
}

double data_parallel_take_loss(struct data_parallel *workers)
{
    double loss = 0;
    for (int i = 0; i < workers->count; i++)
        loss += gradients_take_score(&workers->worker[i].gradients).loss;
    return loss;
}

bool data_parallel_read_far(const struct data_parallel *workers)
{
    for (int i = 0; i < workers->count; i++)
        if (workers->worker[i].gradients.train.far)
            return true;
    return false;
}

void data_parallel_free(struct data_parallel *workers)
{
    data_parallel_recut(workers);
    for (int i = 0; i < workers->count; i++) {
        struct worker *worker = &workers->worker[i];
        struct backend *backend = worker->gradients.backend;
        gradients_free(&worker->gradients);
        backend->free(backend, worker->weights);
        model_free(worker->model);
    }
}
