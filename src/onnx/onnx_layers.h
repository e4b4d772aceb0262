/* Writes each kind of layer as ONNX operations.
 *
 *   onnx_layers.c      dispatch by kind, along the model
 *   onnx_image.c       convolutions, pools, norms of channels
 *   onnx_numbers.c     dense layers, activations, norms of rows
 *   onnx_sequence.c    embeddings, positions, attention
 *
 * Images are [batch, channels, height, width] or, after a layer that flattens them, [batch,
 * numbers]; sequences are [batch, positions, numbers]. Private to src/onnx.
 */
#ifndef HEARSAY_ONNX_ONNX_LAYERS_H
#define HEARSAY_ONNX_ONNX_LAYERS_H

#include <stdbool.h>

#include "layers/model_layers.h"
#include "onnx/onnx_graph.h"

/* Output of a layer. */
struct onnx_value {
    const char *name;
    bool is_flat; /* an image as one row of numbers */
};

struct onnx_writer {
    struct onnx_graph *graph;
    const struct model *model;
    const char *tokens;    /* the input of a sequence model; NULL otherwise */
    const char *positions; /* number of positions, [1]; NULL until needed */
    const char *causal;    /* causal mask, [positions, positions]; NULL until needed */
    const char *cosines;   /* cosines of rope, [positions, turned]; NULL until needed */
    const char *sines;
    int turned; /* pairs of numbers that rope rotates */
};

/* Writes all layers. `input` is read by the first one; returns the output of the last one. */
struct onnx_value onnx_layers_write(struct onnx_writer *writer, struct onnx_value input);

/* Returns the name of the layer's tensor number `which`. */
const char *onnx_layers_tensor(struct onnx_writer *writer, const struct layer *layer, int which);

/* onnx_layers_flat returns an image as a row of numbers. The next function returns a value as an
 * image of the shape. */
struct onnx_value onnx_layers_flat(struct onnx_writer *writer, const struct layer *layer,
                                   struct onnx_value x);
struct onnx_value onnx_layers_image(struct onnx_writer *writer, struct shape shape,
                                    struct onnx_value x);

/* Writes x · weightᵀ + bias of a sequence. bias: number of a tensor; negative = none. */
const char *onnx_layers_project(struct onnx_writer *writer, const struct layer *layer,
                                const char *word, const char *x, int weight, int bias);

/* Parameters of a function that writes one kind of layer: x is its input, the result its output. */
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
