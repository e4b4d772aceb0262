/* What each kind of layer is in ONNX's operations.
 *
 *   onnx_layers.c      which kind is written by whom, and along the model
 *   onnx_image.c       convolutions, pools, norms of channels
 *   onnx_numbers.c     dense layers, activations, norms of rows
 *   onnx_sequence.c    embeddings, positions, attention
 *
 * Images travel as [batch, channels, height, width] or, where a layer has made a row of them, flat
 * as [batch, numbers]; sequences as [batch, positions, numbers]. Private to src/onnx.
 */
#ifndef HEARSAY_ONNX_ONNX_LAYERS_H
#define HEARSAY_ONNX_ONNX_LAYERS_H

#include <stdbool.h>

#include "layers/model_layers.h"
#include "onnx/onnx_graph.h"

/* What a layer gives. */
struct onnx_value {
    const char *name;
    bool is_flat; /* an image as one row of numbers */
};

struct onnx_writer {
    struct onnx_graph *graph;
    const struct model *model;
    const char *tokens;    /* the input, of a model of sequences; else NULL */
    const char *positions; /* how many there are, [1]; NULL: nobody has asked yet */
    const char *causal;    /* which may be seen, [positions, positions]; NULL: the same */
    const char *cosines;   /* of rope, [positions, turned]; NULL: the same */
    const char *sines;
    int turned; /* pairs of numbers that these are for */
};

/* Writes all layers and returns what the last one gives; `input` is what the first one reads. */
struct onnx_value onnx_layers_write(struct onnx_writer *writer, struct onnx_value input);

/* The name of the layer's tensor number `which`. */
const char *onnx_layers_tensor(struct onnx_writer *writer, const struct layer *layer, int which);

/* The value as a row of numbers, if it is an image; and as an image of the shape. */
struct onnx_value onnx_layers_flat(struct onnx_writer *writer, const struct layer *layer,
                                   struct onnx_value x);
struct onnx_value onnx_layers_image(struct onnx_writer *writer, struct shape shape,
                                    struct onnx_value x);

/* x · weightᵀ + bias of a sequence; bias: a tensor's number, or negative. */
const char *onnx_layers_project(struct onnx_writer *writer, const struct layer *layer,
                                const char *word, const char *x, int weight, int bias);

/* One kind each: x is what the layer reads, the result what it gives. */
#define ONNX_LAYER struct onnx_writer *writer, const struct layer *layer, struct onnx_value x

struct onnx_value onnx_image_conv(ONNX_LAYER);
struct onnx_value onnx_image_maxpool(ONNX_LAYER);
struct onnx_value onnx_image_avgpool(ONNX_LAYER);
struct onnx_value onnx_image_batchnorm(ONNX_LAYER);
struct onnx_value onnx_image_groupnorm(ONNX_LAYER);
struct onnx_value onnx_numbers_dense(ONNX_LAYER);
struct onnx_value onnx_numbers_activation(ONNX_LAYER);
struct onnx_value onnx_numbers_swiglu(ONNX_LAYER);
struct onnx_value onnx_numbers_norm(ONNX_LAYER);
struct onnx_value onnx_numbers_rmsnorm(ONNX_LAYER);
struct onnx_value onnx_sequence_embed(ONNX_LAYER);
struct onnx_value onnx_sequence_position(ONNX_LAYER);
struct onnx_value onnx_sequence_attention(ONNX_LAYER);

#endif
