#include "onnx/onnx_layers.h"

#include <stdio.h>
#include <string.h>

#define KIND_WRITER(name, write) {&layer_##name, write},
static const struct {
    const struct layer_kind *kind;
    struct onnx_value (*write)(ONNX_LAYER);
} kinds[] = {LAYERS(KIND_WRITER)};

struct onnx_value onnx_layers_input(ONNX_LAYER)
{
    (void)writer, (void)layer;
    return x;
}

const char *onnx_layers_tensor(struct onnx_writer *writer, const struct layer *layer, int which)
{
    const struct layer *owner =
        layer->borrows ? model_layer_at(writer->model, layer->partner) : layer;
    char *name = arena_alloc(writer->graph->arena, sizeof((struct tensor *)0)->name, 1);
    CHECK(which >= 0 && which < owner->tensors);
    (void)snprintf(name, sizeof((struct tensor *)0)->name, "%d.%s.%s", owner->number,
                   owner->kind->name, owner->tensor[which].name);
    return name;
}

struct onnx_value onnx_layers_flat(struct onnx_writer *writer, const struct layer *layer,
                                   struct onnx_value x)
{
    if (x.is_flat || layer->in.length > 0)
        return x;
    const char *rows = onnx_graph_node(writer->graph, "Flatten", "flat", ONNX_INPUTS(x.name));
    onnx_graph_set_int(writer->graph, "axis", 1);
    return (struct onnx_value){.name = rows, .is_flat = true};
}

struct onnx_value onnx_layers_image(struct onnx_writer *writer, struct shape shape,
                                    struct onnx_value x)
{
    if (!x.is_flat)
        return x;
    const int64_t sides[] = {-1, shape.channels, shape.height, shape.width};
    const char *to = onnx_graph_ints(writer->graph, "image_sides", 4, sides);
    return (struct onnx_value){
        .name = onnx_graph_node(writer->graph, "Reshape", "image", ONNX_INPUTS(x.name, to))};
}

/* If only one branch of a residual connection is flat, flattens the other one first. */
static struct onnx_value add(struct onnx_writer *writer, const struct layer *layer,
                             struct onnx_value body, struct onnx_value other)
{
    if (body.is_flat != other.is_flat) {
        body = onnx_layers_flat(writer, layer, body);
        other = onnx_layers_flat(writer, layer, other);
    }
    return (struct onnx_value){
        .name = onnx_graph_node(writer->graph, "Add", "", ONNX_INPUTS(body.name, other.name)),
        .is_flat = body.is_flat};
}

static struct onnx_value write_layer(struct onnx_writer *writer, const struct layer *layer,
                                     struct onnx_value x)
{
    size_t i = 0;
    while (i < sizeof kinds / sizeof kinds[0] && kinds[i].kind != layer->kind)
        i++;
    CHECK(i < sizeof kinds / sizeof kinds[0]);
    onnx_graph_enter(writer->graph, "%d.%s", layer->number, layer->kind->name);
    return kinds[i].write(writer, layer, x);
}

struct onnx_value onnx_layers_write(struct onnx_writer *writer, struct onnx_value input)
{
    const int count = model_layers(writer->model);
    struct onnx_value *given = arena_alloc(writer->graph->arena, (size_t)count, sizeof *given);
    for (int i = 0, residuals = 0; i < count; i++) {
        const struct layer *layer = model_layer_at(writer->model, i);
        const struct onnx_value x = layer->from == LAYER_INPUT ? input : given[layer->from];
        if (layer->kind == &layer_close) {
            onnx_graph_enter(writer->graph, "residual.%d", residuals++);
            given[i] = add(writer, layer, x,
                           layer->partner == LAYER_INPUT ? input : given[layer->partner]);
        } else if (!layer->kind->is_joint) {
            given[i] = write_layer(writer, layer, x);
        }
    }
    return given[count - 1];
}
