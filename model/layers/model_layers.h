/* Access to the single layers of a model, for export (src/onnx) and for timing
 * (src/commands/model_time.h). */
#ifndef HEARSAY_MODEL_LAYERS_MODEL_LAYERS_H
#define HEARSAY_MODEL_LAYERS_MODEL_LAYERS_H

#include "layers/layer.h"
#include "layers/model.h"

/* Returns layer i, 0 <= i < model_layers(model). Joints count as layers. */
const struct layer *model_layer_at(const struct model *model, int i);

/* Callback of model_forward_each: layer number `layer` has been started and writes its output to y.
 * On a GPU the layer may still run; downloading any part of y waits for it. */
typedef void model_layer_done(void *context, int layer, struct numbers y);
/* Runs the forward pass for one sample, x[in], and calls `done` after each layer that has an
 * output of its own. The joints "residual(" and "|" and an absorbed activation have none. Tests:
 * tests/unit/model/test_model_layers.c. */
void model_forward_each(struct model *model, const float *weights, const float *x,
                        model_layer_done *done, void *context);

#endif
