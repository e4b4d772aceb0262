/* Global average pooling: replaces each channel of an image by its mean (Lin, Chen, Yan 2014). */
#include <stdio.h>

#include "layers/layer.h"
#include "layers/layer_words.h"

static enum error avgpool_read(struct layer *layer, const struct layer_words *words,
                               const struct chain *before, struct problem *problem)
{
    (void)before;
    if (words->count != 1)
        return layer_problem(words, problem, "write it as '%s': it takes the mean of the image",
                             layer_avgpool.usage);
    if (layer->in.length > 0)
        return layer_problem(words, problem, "means are of images; here comes a sequence");
    (void)snprintf(layer->text, sizeof layer->text, "avgpool");
    layer->out = (struct shape){.channels = layer->in.channels, .height = 1, .width = 1};
    return OK;
}

static size_t places_of(const struct layer *layer)
{
    return (size_t)layer->in.height * (size_t)layer->in.width;
}

static size_t planes_of(const struct layer *layer, const struct pass *pass)
{
    return (size_t)pass->batch * (size_t)layer->in.channels;
}

static void avgpool_forward(const struct layer *layer, const struct pass *pass)
{
    pass->backend->channels->average(pass->backend, planes_of(layer, pass), places_of(layer),
                                     floats_of(pass->x), floats_of(layer->y));
}

static void avgpool_backward(const struct layer *layer, const struct pass *pass)
{
    if (pass->dx.at != NULL)
        pass->backend->channels->average_backward(pass->backend, planes_of(layer, pass),
                                                  places_of(layer), floats_of(pass->dy),
                                                  floats_of(pass->dx));
}

const struct layer_kind layer_avgpool = {
    .name = "avgpool",
    .usage = "avgpool",
    .read = avgpool_read,
    .forward = avgpool_forward,
    .backward = avgpool_backward,
};
