/* Norms of image channels. A batchnorm normalizes each channel over the whole batch. A groupnorm
 * normalizes groups of channels within each sample. */
#include <stdio.h>

#include "layers/layer.h"
#include "layers/layer_words.h"

enum { WEIGHT, BIAS, RUNNING_MEAN, RUNNING_VARIANCE };

static enum error groups_read(struct layer *layer, const struct layer_words *words,
                              struct problem *problem)
{
    int groups = 0;
    const int channels = layer->in.channels;
    if (words->count != 2 || !layer_number(words->word[1], &groups) || groups == 0)
        return layer_problem(words, problem, "write it as '%s', for example 'groupnorm 8'",
                             layer_groupnorm.usage);
    if (channels % groups != 0)
        return layer_problem(words, problem,
                             "%d channels cannot be divided into %d groups; take a number that "
                             "divides them",
                             channels, groups);
    layer->norm.groups = groups;
    (void)snprintf(layer->text, sizeof layer->text, "groupnorm %d", groups);
    return OK;
}

static enum error batch_read(struct layer *layer, const struct layer_words *words,
                             struct problem *problem)
{
    if (words->count != 1)
        return layer_problem(words, problem, "write it as '%s'; it has no sizes",
                             layer_batchnorm.usage);
    (void)snprintf(layer->text, sizeof layer->text, "batchnorm");
    return OK;
}

/* Parses a batchnorm or groupnorm. The running mean and variance of a batchnorm are tensors, so
 * that all nodes share them like weights. They are not trained. */
static enum error norm_read(struct layer *layer, const struct layer_words *words,
                            const struct chain *before, struct problem *problem)
{
    (void)before;
    const bool of_batch = layer->kind == &layer_batchnorm;
    const size_t channels = (size_t)layer->in.channels;
    if (layer->in.length > 0)
        return layer_problem(words, problem,
                             "it is for images; here comes a sequence, for which there are 'norm' "
                             "and 'rmsnorm'");
    layer->norm = (struct channel_norm){
        .channels = layer->in.channels,
        .places = (size_t)layer->in.height * (size_t)layer->in.width,
    };
    const enum error error =
        of_batch ? batch_read(layer, words, problem) : groups_read(layer, words, problem);
    if (error != OK)
        return error;
    layer_add_tensor(layer, "weight", INIT_ONE, (size_t[4]){channels});
    layer_add_tensor(layer, "bias", INIT_ZERO, (size_t[4]){channels});
    if (of_batch) {
        layer_add_tensor(layer, "running_mean", INIT_ZERO, (size_t[4]){channels});
        layer_add_tensor(layer, "running_var", INIT_ONE, (size_t[4]){channels});
        layer->tensor[RUNNING_MEAN].is_statistic = true;
        layer->tensor[RUNNING_VARIANCE].is_statistic = true;
    }
    layer->kept_bytes[0] = 2 * channel_norm_sets(&layer->norm, 1) * sizeof(float);
    return OK;
}

static void norm_forward(const struct layer *layer, const struct pass *pass)
{
    struct backend *backend = pass->backend;
    if (pass->training || layer->norm.groups > 0)
        backend->channels->measure(backend, &layer->norm, pass->batch, floats_of(pass->x),
                                   layer->kept[0]);
    else
        backend->channels->recall(backend, &layer->norm, layer_weights(layer, pass, RUNNING_MEAN),
                                  layer_weights(layer, pass, RUNNING_VARIANCE), layer->kept[0]);
    backend->channels->apply(backend, &layer->norm, pass->batch, floats_of(pass->x), layer->kept[0],
                             layer_weights(layer, pass, WEIGHT), layer_weights(layer, pass, BIAS),
                             layer->activation, floats_of(layer->y));
}

static void norm_backward(const struct layer *layer, const struct pass *pass)
{
    struct backend *backend = pass->backend;
    backend->channels->backward(backend, &layer->norm, pass->batch, floats_of(pass->x),
                                layer->kept[0], layer_weights(layer, pass, WEIGHT),
                                floats_of(layer->y), layer->activation, floats_of(pass->dy),
                                floats_of(pass->dx), layer_gradients(layer, pass, WEIGHT),
                                layer_gradients(layer, pass, BIAS));
    if (layer->norm.groups == 0)
        backend->channels->drift(backend, &layer->norm, pass->batch, layer->kept[0],
                                 layer_weights(layer, pass, RUNNING_MEAN),
                                 layer_weights(layer, pass, RUNNING_VARIANCE),
                                 layer_gradients(layer, pass, RUNNING_MEAN),
                                 layer_gradients(layer, pass, RUNNING_VARIANCE));
}

#define NORM(word, all_words)                                                                      \
    {                                                                                              \
        .name = word, .usage = all_words, .absorbs = true, .read = norm_read,                      \
        .forward = norm_forward, .backward = norm_backward,                                        \
    }

const struct layer_kind layer_batchnorm = NORM("batchnorm", "batchnorm");
const struct layer_kind layer_groupnorm = NORM("groupnorm", "groupnorm G");
