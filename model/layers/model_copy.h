/* The same model once more, on another device. Held by tests/unit/model/test_helpers.c. */
#ifndef HEARSAY_MODEL_LAYERS_MODEL_COPY_H
#define HEARSAY_MODEL_LAYERS_MODEL_COPY_H

#include "layers/model.h"

/* For batches of up to batch_max samples, of which the model itself could take as many. The backend
 * may be NULL, as in model_new. To be freed with model_free. */
struct model *model_copy(const struct model *model, struct arena *arena, struct backend *backend,
                         int batch_max);

#endif
