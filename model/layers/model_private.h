/* Struct model: its layers and buffers. Private to the files model*.c. */
#ifndef HEARSAY_MODEL_LAYERS_MODEL_PRIVATE_H
#define HEARSAY_MODEL_LAYERS_MODEL_PRIVATE_H

#include "layers/layer.h"
#include "layers/model.h"

#define GRADIENTS_MAX (LAYER_DEPTH_MAX + 2)
#define LOGITS_FLOATS ((size_t)1 << 24) /* logits_floats of a model without a backend */

struct model {
    struct backend *backend;
    struct shape in;
    int classes;
    enum number type; /* type of activations and their gradients */
    int batch_max;
    int logits_max;       /* number of samples whose logits are computed at once */
    size_t logits_floats; /* most logits to compute at once, unless one sample has more */
    bool recomputes;      /* the backward pass recomputes activations inside residuals */
    struct layer *layers; /* [count] layers, joints included */
    int count;
    int depth; /* largest nesting depth of residuals */
    struct {
        const struct layer *layer;
        int which; /* index in layer->tensor */
    } * tensor;    /* [tensors], in the order of the flat vector */
    int tensors;
    size_t parameters;
    size_t decayed;
    size_t trained;
    void *gradient[GRADIENTS_MAX]; /* [2 + depth] buffers for gradients of layers' outputs */
    void *rounded;                 /* [trained] weights rounded to `type`; NULL if float32 */
    void *scratch;                 /* scratch buffer that all layers share */
    int stepped;                   /* number of positions that model_step has computed and cached */
    /* Weights with which model_step computed the cached positions. */
    const float *stepped_weights;
    void *shared; /* memory of the activations inside residuals, if recomputed */
    char line[MODEL_LINE_MAX];
};

/* Parses and checks the line. Allocates model->layers and model->tensor, but no memory for a batch.
 * On failure nothing remains allocated. */
enum error model_read(struct model *model, const char *line, bool exact,
                      struct problem *problem) MUST_USE;
/* Frees the memory that model_read allocated. */
void model_read_free(struct model *model);

/* Allocates all buffers for batches of batch_max samples from the model's backend. */
void model_alloc_buffers(struct model *model);
void model_free_buffers(struct model *model);

static inline bool layer_has_output(const struct layer *layer)
{
    return !layer->absorbed && layer->kind->forward != NULL;
}

#endif
