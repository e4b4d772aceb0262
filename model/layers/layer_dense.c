#include <stdio.h>

#include "layers/layer.h"

static enum error dense_read(struct layer *layer, const struct layer_words *words,
                             struct problem *problem)
{
    int units = 0;
    if (words->count != 2 || !layer_number(words->word[1], &units) || units == 0)
        return layer_problem(words, problem, "write it as '%s' with N from 1 to %d",
                             layer_dense.usage, LAYER_NUMBER_MAX);
    (void)snprintf(layer->text, sizeof layer->text, "dense %d", units);
    layer->out = (struct shape){.channels = units, .height = 1, .width = 1};
    layer->dims[0] = (size_t)units;
    layer->dims[1] = shape_size(layer->in);
    layer->rank = 2;
    return OK;
}

static void dense_forward(const struct layer *layer, struct backend *backend, int batch,
                          const float *weights, const float *x)
{
    backend->dense_forward(backend, batch, (int)layer->dims[1], (int)layer->dims[0], x, weights,
                           weights + layer_weights(layer), layer->activation, layer->y);
}

static void dense_backward(const struct layer *layer, struct backend *backend, int batch,
                           const float *weights, const float *x, float *dy, float *dx,
                           float *gradients)
{
    backend->dense_backward(backend, batch, (int)layer->dims[1], (int)layer->dims[0], x, weights,
                            layer->y, layer->activation, dy, dx, gradients,
                            gradients + layer_weights(layer));
}

const struct layer_kind layer_dense = {
    .name = "dense",
    .usage = "dense N",
    .read = dense_read,
    .forward = dense_forward,
    .backward = dense_backward,
};
