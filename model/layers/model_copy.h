/* Copies a model to another device. Tests: tests/unit/model/test_data_parallel.c. */
#ifndef HEARSAY_MODEL_LAYERS_MODEL_COPY_H
#define HEARSAY_MODEL_LAYERS_MODEL_COPY_H

#include "layers/model.h"

/* Returns a copy of the model on another backend, for batches of up to batch_max samples. batch_max
 * must not exceed the original's. The backend may be NULL, as in model_new. The caller frees the
 * copy with model_free. */
struct model *model_copy(const struct model *model, struct arena *arena, struct backend *backend,
                         int batch_max);

#endif
