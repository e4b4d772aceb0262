/* The joints of a residual. The joint ")" adds the body's output to the residual's input, or to
 * the shortcut's output (He, Zhang, Ren, Sun 2015). model_pass.c passes gradients through the
 * joints. */
#include "layers/layer.h"

static void close_forward(const struct layer *layer, const struct pass *pass)
{
    pass->backend->elements->add(pass->backend,
                                 (size_t)layer_rows(layer, pass) * layer_width(layer), pass->x,
                                 pass->other, layer->y);
}

const struct layer_kind layer_open = {.name = "residual(", .is_joint = true};
const struct layer_kind layer_shortcut = {.name = "|", .is_joint = true};
const struct layer_kind layer_close = {.name = ")", .is_joint = true, .forward = close_forward};
