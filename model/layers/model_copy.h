/* The same model once more, on another device. Held by tests/unit/model/test_data_parallel.c. */
#ifndef HEARSAY_MODEL_LAYERS_MODEL_COPY_H
#define HEARSAY_MODEL_LAYERS_MODEL_COPY_H

#include "layers/model.h"

/* Copies a model for batches of up to batch_max samples, which the model itself must support. The
 * backend may be NULL, as in model_new. The caller frees it with model_free. */
struct model *model_copy(const struct model *model, struct arena *arena, struct backend *backend,
                         int batch_max);

#endif
