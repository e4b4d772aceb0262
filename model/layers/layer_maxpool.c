#include <stdio.h>

#include "layers/layer.h"

static enum error maxpool_read(struct layer *layer, const struct layer_words *words,
                               struct problem *problem)
{
    int window = 0;
    if (words->count != 2 || !layer_number(words->word[1], &window) || window == 0 ||
        window > POOL_WINDOW_MAX)
        return layer_problem(words, problem, "write it as '%s' with N from 1 to %d",
                             layer_maxpool.usage, POOL_WINDOW_MAX);
    const struct pool pool = {.in = layer->in, .window = window};
    const int smaller = pool.in.height < pool.in.width ? pool.in.height : pool.in.width;
    if (window > smaller)
        return layer_problem(words, problem,
                             "the window is larger than its input of %dx%d; at most 'maxpool %d'",
                             pool.in.height, pool.in.width, smaller);
    (void)snprintf(layer->text, sizeof layer->text, "maxpool %d", window);
    layer->pool = pool;
    layer->out = pool_output(&pool);
    return OK;
}

static void maxpool_forward(const struct layer *layer, struct backend *backend, int batch,
                            const float *weights, const float *x)
{
    (void)weights;
    backend->pool_forward(backend, &layer->pool, batch, x, layer->y, layer->winner);
}

static void maxpool_backward(const struct layer *layer, struct backend *backend, int batch,
                             const float *weights, const float *x, float *dy, float *dx,
                             float *gradients)
{
    (void)weights, (void)x, (void)gradients;
    if (dx != NULL)
        backend->pool_backward(backend, &layer->pool, batch, dy, layer->winner, dx);
}

const struct layer_kind layer_maxpool = {
    .name = "maxpool",
    .usage = "maxpool N",
    .read = maxpool_read,
    .forward = maxpool_forward,
    .backward = maxpool_backward,
};
