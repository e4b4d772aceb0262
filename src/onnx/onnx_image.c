/* Writes layers that work on images: convolutions, pools and norms of channels. */
#include <string.h>

#include "onnx/onnx_layers.h"

static const char *image_of(struct onnx_writer *writer, const struct layer *layer,
                            struct onnx_value x)
{
    return onnx_layers_image(writer, layer->in, x).name;
}

struct onnx_value onnx_image_conv(ONNX_LAYER)
{
    struct onnx_graph *graph = writer->graph;
    const struct conv *conv = &layer->conv;
    const char *weight = onnx_layers_tensor(writer, layer, 0);
    const char *bias = layer->tensors > 1 ? onnx_layers_tensor(writer, layer, 1) : NULL;
    const char *y =
        onnx_graph_node(graph, "Conv", "", ONNX_INPUTS(image_of(writer, layer, x), weight, bias));
    onnx_graph_set_ints(graph, "kernel_shape", 2, (int64_t[]){conv->kernel, conv->kernel});
    onnx_graph_set_ints(graph, "strides", 2, (int64_t[]){conv->stride, conv->stride});
    onnx_graph_set_ints(graph, "pads", 4, (int64_t[]){conv->pad, conv->pad, conv->pad, conv->pad});
    onnx_graph_set_int(graph, "group", conv->groups);
    return (struct onnx_value){.name = y};
}

struct onnx_value onnx_image_maxpool(ONNX_LAYER)
{
    const int64_t window[] = {layer->pool.window, layer->pool.window};
    const char *y =
        onnx_graph_node(writer->graph, "MaxPool", "", ONNX_INPUTS(image_of(writer, layer, x)));
    onnx_graph_set_ints(writer->graph, "kernel_shape", 2, window);
    onnx_graph_set_ints(writer->graph, "strides", 2, window);
    return (struct onnx_value){.name = y};
}

struct onnx_value onnx_image_avgpool(ONNX_LAYER)
{
    return (struct onnx_value){.name = onnx_graph_node(writer->graph, "GlobalAveragePool", "",
                                                       ONNX_INPUTS(image_of(writer, layer, x)))};
}

struct onnx_value onnx_image_batchnorm(ONNX_LAYER)
{
    const char *tensor[4];
    for (int i = 0; i < 4; i++)
        tensor[i] = onnx_layers_tensor(writer, layer, i);
    const char *y = onnx_graph_node(
        writer->graph, "BatchNormalization", "",
        ONNX_INPUTS(image_of(writer, layer, x), tensor[0], tensor[1], tensor[2], tensor[3]));
    onnx_graph_set_float(writer->graph, "epsilon", NORM_EPSILON);
    return (struct onnx_value){.name = y};
}

/* Reshapes the scale (tensor 0) or the shift (tensor 1) from [channels] to [channels, 1, 1], so
 * that it can be combined with an image. */
static const char *each_channel(struct onnx_writer *writer, const struct layer *layer, int which,
                                const char *word)
{
    const char *axes = onnx_graph_ints(writer->graph, which == 0 ? "scale_axes" : "shift_axes", 2,
                                       (int64_t[]){1, 2});
    return onnx_graph_node(writer->graph, "Unsqueeze", word,
                           ONNX_INPUTS(onnx_layers_tensor(writer, layer, which), axes));
}

/* Reshapes each group of channels to one channel and uses InstanceNormalization, because the
 * operation GroupNormalization came with a later opset. */
struct onnx_value onnx_image_groupnorm(ONNX_LAYER)
{
    struct onnx_graph *graph = writer->graph;
    const int64_t groups = layer->norm.groups, apart[] = {0, groups, -1};
    const int64_t image[] = {-1, layer->in.channels, layer->in.height, layer->in.width};
    float *numbers = arena_alloc(graph->arena, (size_t)groups, sizeof *numbers);
    const char *zeros = onnx_graph_floats(graph, "zeros", 1, &groups, numbers);
    for (int64_t i = 0; i < groups; i++)
        numbers[i] = 1;
    const char *ones = onnx_graph_floats(graph, "ones", 1, &groups, numbers);
    const char *sides = onnx_graph_ints(graph, "group_sides", 3, apart);
    const char *cut =
        onnx_graph_node(graph, "Reshape", "groups", ONNX_INPUTS(image_of(writer, layer, x), sides));
    const char *normal =
        onnx_graph_node(graph, "InstanceNormalization", "normal", ONNX_INPUTS(cut, ones, zeros));
    onnx_graph_set_float(graph, "epsilon", NORM_EPSILON);
    const char *joined = onnx_graph_node(
        graph, "Reshape", "joined", ONNX_INPUTS(normal, onnx_graph_ints(graph, "sides", 4, image)));
    const char *scaled = onnx_graph_node(
        graph, "Mul", "scaled", ONNX_INPUTS(joined, each_channel(writer, layer, 0, "scale")));
    return (struct onnx_value){
        .name = onnx_graph_node(graph, "Add", "",
                                ONNX_INPUTS(scaled, each_channel(writer, layer, 1, "shift")))};
}
