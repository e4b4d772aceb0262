/* Activation layers: functions of single numbers, and swiglu. swiglu multiplies silu of a row's
 * first half by the second half. */
#include <stdio.h>

#include "layers/layer.h"
#include "layers/layer_words.h"

static enum error activation_read(struct layer *layer, const struct layer_words *words,
                                  const struct chain *before, struct problem *problem)
{
    (void)before;
    if (words->count != 1)
        return layer_problem(words, problem, "write it as '%s'; it has no sizes",
                             layer->kind->usage);
    (void)snprintf(layer->text, sizeof layer->text, "%s", layer->kind->name);
    return OK;
}

static size_t activation_count(const struct layer *layer, const struct pass *pass)
{
    return (size_t)layer_rows(layer, pass) * layer_width(layer);
}

static void activation_forward(const struct layer *layer, const struct pass *pass)
{
    pass->backend->activation->forward(pass->backend, layer->kind->activation,
                                       activation_count(layer, pass), pass->x, layer->y);
}

static void activation_backward(const struct layer *layer, const struct pass *pass)
{
    const enum activation activation = layer->kind->activation;
    const struct numbers kept = activation_keeps_input(activation) ? pass->x : layer->y;
    if (pass->dx.at != NULL)
        pass->backend->activation->backward(
            pass->backend, activation, activation_count(layer, pass), kept, pass->dy, pass->dx);
}

#define ACTIVATION(word, which)                                                                    \
    {                                                                                              \
        .name = word, .usage = word, .activation = which, .is_activation = true,                   \
        .read = activation_read, .forward = activation_forward, .backward = activation_backward,   \
    }

const struct layer_kind layer_relu = ACTIVATION("relu", RELU);
const struct layer_kind layer_sigmoid = ACTIVATION("sigmoid", SIGMOID);
const struct layer_kind layer_tanh = ACTIVATION("tanh", TANH);
const struct layer_kind layer_gelu = ACTIVATION("gelu", GELU);
const struct layer_kind layer_silu = ACTIVATION("silu", SILU);

static enum error swiglu_read(struct layer *layer, const struct layer_words *words,
                              const struct chain *before, struct problem *problem)
{
    const enum error error = activation_read(layer, words, before, problem);
    if (error == OK && layer_width(layer) % 2 != 0)
        return layer_problem(words, problem,
                             "it multiplies one half by the other, and %zu numbers "
                             "come in; let them be even",
                             layer_width(layer));
    layer->out = (struct shape){.channels = (int)(layer_width(layer) / 2),
                                .height = 1,
                                .width = 1,
                                .length = layer->in.length};
    return error;
}

static void swiglu_forward(const struct layer *layer, const struct pass *pass)
{
    pass->backend->sequence->swiglu(pass->backend, (size_t)layer_rows(layer, pass),
                                    layer->out.channels, pass->x, layer->y);
}

static void swiglu_backward(const struct layer *layer, const struct pass *pass)
{
    if (pass->dx.at != NULL)
        pass->backend->sequence->swiglu_backward(pass->backend, (size_t)layer_rows(layer, pass),
                                                 layer->out.channels, pass->x, pass->dy, pass->dx);
}

const struct layer_kind layer_swiglu = {
    .name = "swiglu",
    .usage = "swiglu",
    .read = swiglu_read,
    .forward = swiglu_forward,
    .backward = swiglu_backward,
};
