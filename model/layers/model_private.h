/* What model.c, model_init.c and model_print.c share: the layers, and where they keep what. */
#ifndef HEARSAY_MODEL_LAYERS_MODEL_PRIVATE_H
#define HEARSAY_MODEL_LAYERS_MODEL_PRIVATE_H

#include "layers/layer.h"
#include "layers/model.h"

#define SLOPES_MAX (LAYER_DEPTH_MAX + 2)

struct model {
    struct backend *backend;
    struct shape in;
    int classes;
    int batch_max;
    struct layer *layers; /* [count] */
    int count;
    int depth; /* residuals within residuals */
    struct {
        const struct layer *layer;
        int which;     /* of its tensors */
    } * tensor;        /* [tensors], in the order of the flat vector */
    int tensors;       /* of all layers */
    size_t parameters; /* P */
    size_t decayed; /* of those that weight decay is for: matrices and filters, which come first */
    size_t trained; /* of those that the optimizer is for: all but statistics, which come last */
    float *slope[SLOPES_MAX];     /* [2 + depth]: of the outputs of layers, backward */
    void *room;                   /* of the layer that computes */
    int stepped;                  /* positions of a sequence that the layers have kept */
    const float *stepped_weights; /* with which they were computed */
    char line[MODEL_LINE_MAX];
};

#endif
