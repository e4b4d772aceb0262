/* Writes dense layers, activations and norms of rows. A row is a flattened image or one position of
 * a sequence; activations accept any shape. */
#include <stdio.h>

#include "onnx/onnx_layers.h"

const char *onnx_layers_project(struct onnx_writer *writer, const struct layer *layer,
                                const char *word, const char *x, int weight, int bias)
{
    struct onnx_graph *graph = writer->graph;
    char turned[48], product[48];
    (void)snprintf(turned, sizeof turned, "%s%sturned", word, *word ? "_" : "");
    (void)snprintf(product, sizeof product, "%s%sproduct", word, *word ? "_" : "");
    const char *matrix = onnx_graph_node(graph, "Transpose", turned,
                                         ONNX_INPUTS(onnx_layers_tensor(writer, layer, weight)));
    onnx_graph_set_ints(graph, "perm", 2, (int64_t[]){1, 0});
    if (bias < 0)
        return onnx_graph_node(graph, "MatMul", word, ONNX_INPUTS(x, matrix));
    const char *sums = onnx_graph_node(graph, "MatMul", product, ONNX_INPUTS(x, matrix));
    return onnx_graph_node(graph, "Add", word,
                           ONNX_INPUTS(sums, onnx_layers_tensor(writer, layer, bias)));
}

struct onnx_value onnx_numbers_dense(ONNX_LAYER)
{
    const int bias = layer->tensors > 1 ? 1 : -1;
    if (layer->in.length > 0)
        return (struct onnx_value){.name = onnx_layers_project(writer, layer, "", x.name, 0, bias)};
    const char *rows = onnx_layers_flat(writer, layer, x).name;
    const char *weight = onnx_layers_tensor(writer, layer, 0);
    const char *shift = bias > 0 ? onnx_layers_tensor(writer, layer, bias) : NULL;
    const char *y = onnx_graph_node(writer->graph, "Gemm", "", ONNX_INPUTS(rows, weight, shift));
    onnx_graph_set_int(writer->graph, "transB", 1);
    return (struct onnx_value){.name = y, .is_flat = true};
}

/* x / 2 · (1 + tanh(√(2/π) · (x + 0.044715 x³))), because the operation Gelu came with a later
 * opset. */
static const char *gelu(struct onnx_graph *graph, const char *x)
{
    const char *square = onnx_graph_node(graph, "Mul", "square", ONNX_INPUTS(x, x));
    const char *cube = onnx_graph_node(graph, "Mul", "cube", ONNX_INPUTS(square, x));
    const char *part = onnx_graph_node(
        graph, "Mul", "part", ONNX_INPUTS(cube, onnx_graph_float(graph, "of_cube", 0.044715f)));
    const char *inner = onnx_graph_node(graph, "Add", "inner", ONNX_INPUTS(x, part));
    const char *scaled =
        onnx_graph_node(graph, "Mul", "scaled",
                        ONNX_INPUTS(inner, onnx_graph_float(graph, "root", 0.7978845608028654f)));
    const char *bent = onnx_graph_node(graph, "Tanh", "tanh", ONNX_INPUTS(scaled));
    const char *raised = onnx_graph_node(graph, "Add", "raised",
                                         ONNX_INPUTS(bent, onnx_graph_float(graph, "one", 1)));
    const char *half = onnx_graph_node(graph, "Mul", "half",
                                       ONNX_INPUTS(x, onnx_graph_float(graph, "of_x", 0.5f)));
    return onnx_graph_node(graph, "Mul", "", ONNX_INPUTS(half, raised));
}

static const char *silu(struct onnx_graph *graph, const char *word, const char *x)
{
    const char *gate = onnx_graph_node(graph, "Sigmoid", "gate", ONNX_INPUTS(x));
    return onnx_graph_node(graph, "Mul", word, ONNX_INPUTS(x, gate));
}

static const char *activate(struct onnx_graph *graph, enum activation activation, const char *x)
{
    switch (activation) {
    case RELU:
        return onnx_graph_node(graph, "Relu", "", ONNX_INPUTS(x));
    case SIGMOID:
        return onnx_graph_node(graph, "Sigmoid", "", ONNX_INPUTS(x));
    case TANH:
        return onnx_graph_node(graph, "Tanh", "", ONNX_INPUTS(x));
    case GELU:
        return gelu(graph, x);
    case SILU:
        return silu(graph, "", x);
    case LINEAR:
        break;
    }
    CHECK(false);
}

struct onnx_value onnx_numbers_activation(ONNX_LAYER)
{
    x.name = activate(writer->graph, layer->kind->activation, x.name);
    return x;
}

struct onnx_value onnx_numbers_swiglu(ONNX_LAYER)
{
    const char *half[2];
    x = onnx_layers_flat(writer, layer, x);
    onnx_graph_split(writer->graph, "half", x.name, 2, NULL, half);
    const char *first = silu(writer->graph, "silu", half[0]);
    x.name = onnx_graph_node(writer->graph, "Mul", "", ONNX_INPUTS(first, half[1]));
    return x;
}

struct onnx_value onnx_numbers_norm(ONNX_LAYER)
{
    x = onnx_layers_flat(writer, layer, x);
    x.name = onnx_graph_node(writer->graph, "LayerNormalization", "",
                             ONNX_INPUTS(x.name, onnx_layers_tensor(writer, layer, 0),
                                         onnx_layers_tensor(writer, layer, 1)));
    onnx_graph_set_int(writer->graph, "axis", -1);
    onnx_graph_set_float(writer->graph, "epsilon", NORM_EPSILON);
    return x;
}

struct onnx_value onnx_numbers_rmsnorm(ONNX_LAYER)
{
    struct onnx_graph *graph = writer->graph;
    x = onnx_layers_flat(writer, layer, x);
    const char *squares = onnx_graph_node(graph, "Mul", "squares", ONNX_INPUTS(x.name, x.name));
    const char *mean = onnx_graph_node(graph, "ReduceMean", "mean", ONNX_INPUTS(squares));
    onnx_graph_set_ints(graph, "axes", 1, (int64_t[]){-1});
    onnx_graph_set_int(graph, "keepdims", 1);
    const char *raised =
        onnx_graph_node(graph, "Add", "raised",
                        ONNX_INPUTS(mean, onnx_graph_float(graph, "epsilon", NORM_EPSILON)));
    const char *root = onnx_graph_node(graph, "Sqrt", "root", ONNX_INPUTS(raised));
    const char *normal = onnx_graph_node(graph, "Div", "normal", ONNX_INPUTS(x.name, root));
    x.name = onnx_graph_node(graph, "Mul", "",
                             ONNX_INPUTS(normal, onnx_layers_tensor(writer, layer, 0)));
    return x;
}
