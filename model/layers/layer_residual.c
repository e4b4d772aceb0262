/* The joints of a residual: what its body makes of its input is added to the input, or to what a
 * shortcut makes of it (He, Zhang, Ren, Sun 2015). model.c leads the slopes through them. */
#include "layers/layer.h"

static void close_forward(const struct layer *layer, const struct pass *pass)
{
    pass->backend->add(pass->backend, (size_t)layer_rows(layer, pass) * layer_width(layer), pass->x,
                       pass->other, layer->y);
}

const struct layer_kind layer_open = {.name = "residual(", .is_joint = true};
const struct layer_kind layer_shortcut = {.name = "|", .is_joint = true};
const struct layer_kind layer_close = {.name = ")", .is_joint = true, .forward = close_forward};
