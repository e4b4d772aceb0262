#include "training/optimizer_step.h"

#include "base/error.h"

#define FOLLOW_RATE 0.1f /* weight of a new value in the moving average of a statistic */

void optimizer_step_set(struct optimizer_step *step, const struct optimizer *optimizer,
                        const struct model *model, struct swarm_progress swarm, uint64_t number,
                        uint32_t parts)
{
    CHECK(parts > 0);
    step->sgd = schedule_sgd(optimizer, swarm);
    step->sgd.decayed = model_decayed(model);
    step->adam = schedule_adam(optimizer, swarm, number);
    step->bare = step->adam;
    step->adam.decayed = model_decayed(model);
    step->follow = (struct sgd){.rate = FOLLOW_RATE / (float)parts};
    step->clip = optimizer->clip;
}

void optimizer_step_scale(struct optimizer_step *step, float factor)
{
    step->sgd.rate *= factor;
    step->adam.rate *= factor;
    step->bare.rate *= factor;
}

/* Moves the weights of one matrix, all of whose entries have weight decay. */
static void step_matrix(struct backend *backend, const struct optimizer *optimizer,
                        const struct tensor *tensor, const struct optimizer_step *step,
                        const float *factor, float *weights, float *gradients,
                        float *const moment[2])
{
    const struct optimizer_operations *optimize = backend->optimize;
    const size_t at = tensor->offset, count = tensor_entries(tensor), rows = tensor->dims[0];
    float *w = weights + at, *g = gradients + at, *m = moment[0] + at, *v = moment[1] + at;
    if (optimizer->kind == OPTIMIZER_LAMB)
        optimize->lamb(backend, &step->adam, factor, count, true, w, g, m, v);
    else if (tensor->is_hidden)
        optimize->muon(backend, &step->sgd, factor, (int)rows, (int)(count / rows), w, g, m);
    else
        optimize->adam(backend, &step->adam, factor, count, w, g, m, v);
}

/* Moves the decayed matrices one by one, then all other trained entries with AdamW. */
static void step_by_tensors(struct backend *backend, const struct optimizer *optimizer,
                            const struct model *model, const struct optimizer_step *step,
                            const float *factor, float *weights, float *gradients,
                            float *const moment[2])
{
    const size_t from = model_decayed(model), rest = model_trained(model) - from;
    for (int i = 0; i < model_tensors(model); i++) {
        const struct tensor tensor = model_tensor(model, i);
        if (tensor.offset < from)
            step_matrix(backend, optimizer, &tensor, step, factor, weights, gradients, moment);
    }
    if (rest > 0)
        backend->optimize->adam(backend, &step->bare, factor, rest, weights + from,
                                gradients + from, moment[0] + from, moment[1] + from);
}

void optimizer_step_make(struct backend *backend, const struct optimizer *optimizer,
                         const struct model *model, struct optimizer_step *step, float *weights,
                         float *gradients, float *const moment[2])
{
    const size_t trained = model_trained(model), statistics = model_parameters(model) - trained;
    const float *factor = optimizer->clip > 0 ? &step->factor : NULL;
    if (factor)
        backend->optimize->clip(backend, &step->clip, trained, gradients, &step->factor);
    if (optimizer->kind == OPTIMIZER_SGD)
        backend->optimize->sgd(backend, &step->sgd, factor, trained, weights, gradients, moment[0]);
    else if (optimizer->kind == OPTIMIZER_ADAM)
        backend->optimize->adam(backend, &step->adam, factor, trained, weights, gradients,
                                moment[0], moment[1]);
    else
        step_by_tensors(backend, optimizer, model, step, factor, weights, gradients, moment);
    if (statistics > 0)
        backend->optimize->sgd(backend, &step->follow, NULL, statistics, weights + trained,
                               gradients + trained, moment[0] + trained);
}
