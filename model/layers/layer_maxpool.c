#include <stdio.h>

#include "layers/layer.h"
#include "layers/layer_words.h"

static enum error maxpool_read(struct layer *layer, const struct layer_words *words,
                               const struct chain *before, struct problem *problem)
{
    (void)before;
    int window = 0;
    if (words->count != 2 || !layer_number(words->word[1], &window) || window == 0 ||
        window > POOL_WINDOW_MAX)
        return layer_problem(words, problem, "write it as '%s' with N from 1 to %d",
                             layer_maxpool.usage, POOL_WINDOW_MAX);
    if (layer->in.length > 0)
        return layer_problem(words, problem, "windows are of images; here comes a sequence");
    const struct pool pool = {.in = layer->in, .window = window};
    const int smaller = int_min(pool.in.height, pool.in.width);
    if (window > smaller)
        return layer_problem(words, problem,
                             "the window is larger than its input of %dx%d; at most 'maxpool %d'",
                             pool.in.height, pool.in.width, smaller);
    (void)snprintf(layer->text, sizeof layer->text, "maxpool %d", window);
    layer->pool = pool;
    layer->out = pool_output(&pool);
    /* A byte per output: index of the largest number in the output's window. */
    layer->kept_bytes[0] = shape_size(layer->out);
    return OK;
}

static void maxpool_forward(const struct layer *layer, const struct pass *pass)
{
    pass->backend->pool->forward(pass->backend, &layer->pool, pass->batch, floats_of(pass->x),
                                 floats_of(layer->y), layer->kept[0]);
}

static void maxpool_backward(const struct layer *layer, const struct pass *pass)
{
    if (pass->dx.at != NULL)
        pass->backend->pool->backward(pass->backend, &layer->pool, pass->batch, floats_of(pass->dy),
                                      layer->kept[0], floats_of(pass->dx));
}

const struct layer_kind layer_maxpool = {
    .name = "maxpool",
    .usage = "maxpool N",
    .read = maxpool_read,
    .forward = maxpool_forward,
    .backward = maxpool_backward,
};
