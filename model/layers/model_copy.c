#include "layers/model_copy.h"

#include "layers/model_private.h"

/* Parsing the layers line cannot fail here, because the original model was parsed from the same
 * line. */
struct model *model_copy(const struct model *model, struct arena *arena, struct backend *backend,
                         int batch_max)
{
    struct model *copy;
    struct problem problem;
    const struct model_use use = {.batch_max = batch_max,
                                  .recompute = model->recomputes,
                                  .logits_floats = model->logits_floats};
    CHECK(batch_max > 0 && batch_max <= model->batch_max);
    CHECK(model_new_for(&copy, arena, backend, model->line, model->in, model->classes, &use,
                        &problem) == OK);
    CHECK(copy->parameters == model->parameters);
    return copy;
}
