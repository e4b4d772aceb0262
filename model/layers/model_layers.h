/* A model's layers one by one, for whoever writes them in another language (src/onnx) or takes
 * their times (src/commands/model_time.h). */
#ifndef HEARSAY_MODEL_LAYERS_MODEL_LAYERS_H
#define HEARSAY_MODEL_LAYERS_MODEL_LAYERS_H

#include "layers/layer.h"
#include "layers/model.h"

/* The layer of this number, joints counted as in model_layer. */
const struct layer *model_layer_at(const struct model *model, int i);

/* model_forward for one sample, x[in]: `done` is called behind each layer that computes something,
 * with what it gives; of an activation that the layer before it computes (absorbed) it is not. On a
 * GPU the layer may not be finished then; it is when some of y was downloaded. Held by
 * tests/unit/model/test_model_layers.c. */
typedef void model_layer_done(void *context, int layer, struct numbers y);
void model_forward_each(struct model *model, const float *weights, const float *x,
                        model_layer_done *done, void *context);

#endif
