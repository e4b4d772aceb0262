/* A model's layers one by one, for whoever writes them in another language (src/onnx). */
#ifndef HEARSAY_MODEL_LAYERS_MODEL_LAYERS_H
#define HEARSAY_MODEL_LAYERS_MODEL_LAYERS_H

#include "layers/layer.h"
#include "layers/model.h"

/* The layer of this number, joints counted as in model_layer. */
const struct layer *model_layer_at(const struct model *model, int i);

#endif
