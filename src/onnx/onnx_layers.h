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

/* A value in the graph, such as the output of a layer. */
struct onnx_value {
    const char *name;
    bool is_flat; /* the value is an image as one row of numbers */
};

struct onnx_writer {
    struct onnx_graph *graph;
    const struct model *model;
    /* name of the token input of a sequence model; NULL = the model takes images */
    const char *tokens;
    /* name of the number of positions, of shape [1]; NULL = no node computes it yet */
    const char *positions;
    /* name of the causal mask, of shape [positions, positions]; NULL = no node computes it yet */
    const char *causal;
    /* names of rotary tables, of shape [positions, turned]; NULL = no node computes them yet */
    const char *cosines;
    const char *sines;
    /* number of pairs that `cosines` and `sines` rotate */
    int turned;
};

/* `input` is the value that the first layer reads. Returns the output of the last layer. */
struct onnx_value onnx_layers_write(struct onnx_writer *writer, struct onnx_value input);

/* Returns the name of tensor `which` of the layer, or of the layer whose tensors it borrows. */
const char *onnx_layers_tensor(struct onnx_writer *writer, const struct layer *layer, int which);

/* onnx_layers_flat turns an image into one row of numbers. onnx_layers_image turns a flat x into an
 * image of this shape. They return any other x unchanged. */
struct onnx_value onnx_layers_flat(struct onnx_writer *writer, const struct layer *layer,
                                   struct onnx_value x);
struct onnx_value onnx_layers_image(struct onnx_writer *writer, struct shape shape,
                                    struct onnx_value x);

/* Computes x · weightᵀ + bias for each row of x. weight, bias: indices of the layer's tensors; bias
 * < 0 = no bias. */
const char *onnx_layers_project(struct onnx_writer *writer, const struct layer *layer,
                                const char *word, const char *x, int weight, int bias);

/* Parameters of every function that writes a kind of layer; layers/layer.h lists these functions.
 * x: input of the layer. Each function returns the layer's output. onnx_layers_input serves
 * dropout: it writes nothing and returns x. */
#define ONNX_LAYER struct onnx_writer *writer, const struct layer *layer, struct onnx_value x

#define ONNX_WRITER(name, write) struct onnx_value write(ONNX_LAYER);
LAYERS(ONNX_WRITER)

#endif
