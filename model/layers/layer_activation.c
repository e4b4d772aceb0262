#include <stdio.h>

#include "layers/layer.h"

static enum error activation_read(struct layer *layer, const struct layer_words *words,
                                  struct problem *problem)
{
    if (words->count != 1)
        return layer_problem(words, problem, "write it as '%s'; it has no sizes",
                             layer->kind->usage);
    (void)snprintf(layer->text, sizeof layer->text, "%s", layer->kind->name);
    layer->out = layer->in;
    return OK;
}

static size_t activation_count(const struct layer *layer, int batch)
{
    return (size_t)batch * shape_size(layer->in);
}

static void activation_forward(const struct layer *layer, struct backend *backend, int batch,
                               const float *weights, const float *x)
{
    (void)weights;
    backend->activate(backend, layer->kind->activation, activation_count(layer, batch), x,
                      layer->y);
}

static void activation_backward(const struct layer *layer, struct backend *backend, int batch,
                                const float *weights, const float *x, float *dy, float *dx,
                                float *gradients)
{
    (void)weights, (void)x, (void)gradients;
    if (dx != NULL)
        backend->activate_backward(backend, layer->kind->activation, activation_count(layer, batch),
                                   layer->y, dy, dx);
}

#define ACTIVATION(word, which)                                                                    \
    {                                                                                              \
        .name = word, .usage = word, .activation = which, .is_activation = true,                   \
        .read = activation_read, .forward = activation_forward, .backward = activation_backward,   \
    }

const struct layer_kind layer_relu = ACTIVATION("relu", RELU);
const struct layer_kind layer_sigmoid = ACTIVATION("sigmoid", SIGMOID);
const struct layer_kind layer_tanh = ACTIVATION("tanh", TANH);
