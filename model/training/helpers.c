#include "training/helpers.h"

#include "base/error.h"
#include "layers/model_copy.h"

/* Another device. */
struct helper {
    struct model *model; /* on its backend */
    float *weights;      /* [P] */
    struct gradients gradients;
    struct sequence sequence; /* the operations of its share of a step */
};

struct helpers {
    struct team *team; /* lent */
    size_t parameters; /* P */
    int count;         /* without the first device */
    struct helper helper[TEAM_MAX - 1];
};

struct helpers *helpers_new(struct arena *arena, struct team *team, const struct model *model,
                            const struct dataset *train, const struct gradients_options *options)
{
    struct helpers *helpers = arena_take(arena, 1, sizeof *helpers);
    CHECK(team->count >= 2 && team->count <= TEAM_MAX);
    *helpers = (struct helpers){
        .team = team, .parameters = model_parameters(model), .count = team->count - 1};
    for (int i = 0; i < helpers->count; i++) {
        struct helper *helper = &helpers->helper[i];
        struct backend *backend = team->backend[i + 1];
        helper->model = model_copy(model, arena, backend, (int)options->most.part);
        helper->weights = backend->take(backend, helpers->parameters * sizeof *helper->weights);
        gradients_init(&helper->gradients, backend, helper->model, train, options);
    }
    return helpers;
}

uint32_t helpers_devices(const struct helpers *helpers)
{
    return (uint32_t)helpers->count + 1;
}

void helpers_upload(struct helpers *helpers, const struct step_input *host, size_t bytes)
{
    for (int i = 0; i < helpers->count; i++) {
        const struct gradients *gradients = &helpers->helper[i].gradients;
        gradients->backend->upload(gradients->backend, gradients->input, host, bytes);
    }
}

void helpers_begin(struct helpers *helpers, float *weights, const struct step_cut *cut)
{
    float *all[TEAM_MAX] = {weights};
    for (int i = 0; i < helpers->count; i++)
        all[i + 1] = helpers->helper[i].weights;
    helpers->team->broadcast(helpers->team, all, helpers->parameters);
    for (int i = 0; i < helpers->count; i++) {
        struct helper *helper = &helpers->helper[i];
        struct backend *backend = helper->gradients.backend;
        if (backend->sequence_begin(backend, &helper->sequence))
            continue;
        gradients_compute(&helper->gradients, helper->weights, cut, (uint32_t)i + 1);
        backend->sequence_end(backend, &helper->sequence);
    }
}

void helpers_end(struct helpers *helpers, float *sum)
{
    float *all[TEAM_MAX] = {sum};
    for (int i = 0; i < helpers->count; i++)
        all[i + 1] = helpers->helper[i].gradients.sum;
    helpers->team->reduce(helpers->team, all, helpers->parameters);
}

void helpers_recut(struct helpers *helpers)
{
    for (int i = 0; i < helpers->count; i++) {
        struct helper *helper = &helpers->helper[i];
        struct backend *backend = helper->gradients.backend;
        backend->sequence_drop(backend, &helper->sequence);
    }
}

double helpers_take_loss(struct helpers *helpers)
{
    double loss = 0;
    for (int i = 0; i < helpers->count; i++)
        loss += gradients_take_score(&helpers->helper[i].gradients).loss;
    return loss;
}

bool helpers_read_far(const struct helpers *helpers)
{
    for (int i = 0; i < helpers->count; i++)
        if (helpers->helper[i].gradients.train.far)
            return true;
    return false;
}

void helpers_free(struct helpers *helpers)
{
    helpers_recut(helpers);
    for (int i = 0; i < helpers->count; i++) {
        struct helper *helper = &helpers->helper[i];
        struct backend *backend = helper->gradients.backend;
        gradients_free(&helper->gradients);
        backend->give(backend, helper->weights);
        model_free(helper->model);
    }
}
