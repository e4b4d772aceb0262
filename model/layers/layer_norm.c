/* Norms of each position's numbers: layer norm by mean and standard deviation (norm), or by the
 * root mean square (rmsnorm). */
#include <stdio.h>

#include "layers/layer.h"
#include "layers/layer_words.h"

static enum error norm_read(struct layer *layer, const struct layer_words *words,
                            const struct chain *before, struct problem *problem)
{
    (void)before;
    if (words->count != 1)
        return layer_problem(words, problem, "write it as '%s'; it has no sizes",
                             layer->kind->usage);
    (void)snprintf(layer->text, sizeof layer->text, "%s", layer->kind->name);
    layer_add_tensor(layer, "weight", INIT_ONE, (size_t[4]){layer_width(layer)});
    if (layer->kind == &layer_norm)
        layer_add_tensor(layer, "bias", INIT_ZERO, (size_t[4]){layer_width(layer)});
    layer->kept_bytes[0] = 2 * shape_positions(layer->in) * sizeof(float);
    return OK;
}

static void norm_forward(const struct layer *layer, const struct pass *pass)
{
    if (pass->fused.sum != NULL) {
        pass->backend->sequence->add_norm(pass->backend, (size_t)layer_rows(layer, pass),
                                          (int)layer_width(layer), pass->x, pass->other,
                                          pass->fused.sum->y, layer_weights(layer, pass, 0),
                                          layer_weights(layer, pass, 1), layer->y, layer->kept[0]);
        return;
    }
    pass->backend->sequence->norm(pass->backend, (size_t)layer_rows(layer, pass),
                                  (int)layer_width(layer), pass->x, layer_weights(layer, pass, 0),
                                  layer_weights(layer, pass, 1), layer->y, layer->kept[0]);
}

static void norm_backward(const struct layer *layer, const struct pass *pass)
{
    pass->backend->sequence->norm_backward(
        pass->backend, (size_t)layer_rows(layer, pass), (int)layer_width(layer), pass->x,
        layer_weights(layer, pass, 0), layer->kept[0], pass->dy, pass->fused.passed, pass->dx,
        layer_gradients(layer, pass, 0), layer_gradients(layer, pass, 1));
}

#define NORM(word)                                                                                 \
    {                                                                                              \
        .name = word, .usage = word, .read = norm_read, .forward = norm_forward,                   \
        .backward = norm_backward,                                                                 \
    }

const struct layer_kind layer_norm = NORM("norm");
const struct layer_kind layer_rmsnorm = NORM("rmsnorm");
