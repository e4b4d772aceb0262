/* Shared by the files model*.c: the layers and their buffers. */
#ifndef HEARSAY_MODEL_LAYERS_MODEL_PRIVATE_H
#define HEARSAY_MODEL_LAYERS_MODEL_PRIVATE_H

#include "layers/layer.h"
#include "layers/model.h"

#define SLOPES_MAX    (LAYER_DEPTH_MAX + 2)
#define LOGITS_FLOATS ((size_t)1 << 24) /* logits computed at once without a backend's choice */

struct model {
    struct backend *backend;
    struct shape in;
    int classes;
    enum number type; /* type of activations and their gradients */
    int batch_max;
    int logits_max;       /* samples whose logits are computed at once */
    size_t logits_floats; /* logits computed at once, at least a sample's */
    bool recomputes;      /* recomputes activations inside residuals in the backward pass */
    struct layer *layers; /* [count] */
    int count;
    int depth; /* largest nesting of residuals */
    struct {
        const struct layer *layer;
        int which;     /* index of the tensor in its layer */
    } * tensor;        /* [tensors], in the order of the flat vector */
    int tensors;       /* tensors of all layers */
    size_t parameters; /* P */
    size_t decayed; /* number of entries with weight decay: matrices and filters, which are first */
    size_t trained; /* number of trained entries: all except statistics, which come last */
    void *gradient[SLOPES_MAX];   /* [2 + depth] gradients of layers' outputs, backward */
    void *rounded;                /* [trained]: weights in the type of activations; or NULL */
    void *scratch;                /* scratch buffer of the layer that computes */
    int stepped;                  /* positions of a sequence that the layers have kept */
    const float *stepped_weights; /* weights that computed them */
    void *shared;                 /* memory shared by residuals that are recomputed */
    char line[MODEL_LINE_MAX];
};

/* model.c: parses the line and releases what it allocated for the layers, which have no memory for
 * a batch then. */
enum error model_read(struct model *model, const char *line, bool exact,
                      struct problem *problem) MUST_USE;
void model_let_go(struct model *model);

/* model_memory.c */
void model_take_memory(struct model *model);
void model_give_memory(struct model *model);

static inline bool layer_has_output(const struct layer *layer)
{
    return !layer->absorbed && layer->kind->forward != NULL;
}

#endif
