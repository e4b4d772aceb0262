#include "onnx/onnx_graph.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "layers/layer.h"

/* 40 for each layer, enough for attention, which needs the most */
#define NODES_MAX      (40 * LAYERS_MAX)
#define TENSORS_MAX    (20 * LAYERS_MAX)
#define ATTRIBUTES_MAX 6 /* most attributes of a node */
#define NAME_MAX_BYTES 96

void onnx_graph_init(struct onnx_graph *graph, struct arena *arena, const char *name)
{
    *graph = (struct onnx_graph){.arena = arena};
    onnx__graph_proto__init(&graph->proto);
    graph->proto.name = (char *)name;
    graph->proto.node = arena_alloc(arena, NODES_MAX, sizeof(void *));
    graph->proto.initializer = arena_alloc(arena, TENSORS_MAX, sizeof(void *));
    graph->proto.input = arena_alloc(arena, 1, sizeof(void *));
    graph->proto.output = arena_alloc(arena, 1, sizeof(void *));
}

static void *copy(struct onnx_graph *graph, const void *from, size_t bytes)
{
    void *to = arena_alloc(graph->arena, bytes, 1);
    memcpy(to, from, bytes);
    return to;
}

void onnx_graph_enter(struct onnx_graph *graph, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(graph->scope, sizeof graph->scope, format, arguments);
    va_end(arguments);
    CHECK(length > 0 && (size_t)length < sizeof graph->scope);
}

static char *scoped(struct onnx_graph *graph, const char *word)
{
    char name[NAME_MAX_BYTES];
    const int length = snprintf(name, sizeof name, "%s%s%s", graph->scope, *word ? "/" : "", word);
    CHECK(length > 0 && (size_t)length < sizeof name);
    return copy(graph, name, (size_t)length + 1);
}

/* outputs: number of outputs, whose names the caller sets. */
static Onnx__NodeProto *add_node(struct onnx_graph *graph, const char *operation,
                                 const char *const *inputs, size_t outputs)
{
    Onnx__NodeProto *node = arena_alloc(graph->arena, 1, sizeof *node);
    CHECK(graph->proto.n_node < NODES_MAX);
    onnx__node_proto__init(node);
    node->op_type = (char *)operation;
    while (inputs[node->n_input])
        node->n_input++;
    node->input = copy(graph, inputs, node->n_input * sizeof *inputs);
    node->n_output = outputs;
    node->output = arena_alloc(graph->arena, outputs, sizeof *node->output);
    node->attribute = arena_alloc(graph->arena, ATTRIBUTES_MAX, sizeof *node->attribute);
    graph->proto.node[graph->proto.n_node++] = node;
    return node;
}

const char *onnx_graph_node(struct onnx_graph *graph, const char *operation, const char *word,
                            const char *const *inputs)
{
    Onnx__NodeProto *node = add_node(graph, operation, inputs, 1);
    node->name = scoped(graph, word);
    node->output[0] = node->name;
    return node->name;
}

void onnx_graph_split(struct onnx_graph *graph, const char *word, const char *input, int count,
                      const int64_t *sizes, const char **parts)
{
    const char *split = sizes ? onnx_graph_ints(graph, "sizes", count, sizes) : NULL;
    Onnx__NodeProto *node = add_node(graph, "Split", ONNX_INPUTS(input, split), (size_t)count);
    node->name = scoped(graph, word);
    for (int i = 0; i < count; i++) {
        char numbered[NAME_MAX_BYTES];
        (void)snprintf(numbered, sizeof numbered, "%s.%d", word, i);
        node->output[i] = scoped(graph, numbered);
        parts[i] = node->output[i];
    }
    onnx_graph_set_int(graph, "axis", -1);
}

static Onnx__AttributeProto *add_attribute(struct onnx_graph *graph, const char *name,
                                           Onnx__AttributeProto__AttributeType type)
{
    Onnx__AttributeProto *attribute = arena_alloc(graph->arena, 1, sizeof *attribute);
    CHECK(graph->proto.n_node > 0);
    Onnx__NodeProto *node = graph->proto.node[graph->proto.n_node - 1];
    CHECK(node->n_attribute < ATTRIBUTES_MAX);
    onnx__attribute_proto__init(attribute);
    attribute->name = (char *)name;
    attribute->has_type = true;
    attribute->type = type;
    node->attribute[node->n_attribute++] = attribute;
    return attribute;
}

void onnx_graph_set_int(struct onnx_graph *graph, const char *name, int64_t value)
{
    Onnx__AttributeProto *attribute =
        add_attribute(graph, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT);
    attribute->has_i = true;
    attribute->i = value;
}

void onnx_graph_set_ints(struct onnx_graph *graph, const char *name, int count,
                         const int64_t *values)
{
    Onnx__AttributeProto *attribute =
        add_attribute(graph, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS);
    attribute->n_ints = (size_t)count;
    attribute->ints = copy(graph, values, (size_t)count * sizeof *values);
}

void onnx_graph_set_float(struct onnx_graph *graph, const char *name, float value)
{
    Onnx__AttributeProto *attribute =
        add_attribute(graph, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT);
    attribute->has_f = true;
    attribute->f = value;
}

/* The tensor points to `data`. ONNX stores numbers as little-endian, which is also the byte order
 * of this machine. */
static void add_tensor(struct onnx_graph *graph, char *name, int type, int rank,
                       const int64_t *dims, const void *data, size_t bytes)
{
    Onnx__TensorProto *tensor = arena_alloc(graph->arena, 1, sizeof *tensor);
    CHECK(graph->proto.n_initializer < TENSORS_MAX && rank >= 0 && rank <= ONNX_RANK_MAX);
    onnx__tensor_proto__init(tensor);
    tensor->name = name;
    tensor->has_data_type = true;
    tensor->data_type = type;
    tensor->n_dims = (size_t)rank;
    tensor->dims = rank > 0 ? copy(graph, dims, (size_t)rank * sizeof *dims) : NULL;
    tensor->has_raw_data = true;
    tensor->raw_data = (ProtobufCBinaryData){.len = bytes, .data = (uint8_t *)data};
    graph->proto.initializer[graph->proto.n_initializer++] = tensor;
}

const char *onnx_graph_int(struct onnx_graph *graph, const char *word, int64_t value)
{
    char *name = scoped(graph, word);
    add_tensor(graph, name, ONNX__TENSOR_PROTO__DATA_TYPE__INT64, 0, NULL,
               copy(graph, &value, sizeof value), sizeof value);
    return name;
}

const char *onnx_graph_ints(struct onnx_graph *graph, const char *word, int count,
                            const int64_t *values)
{
    char *name = scoped(graph, word);
    const size_t bytes = (size_t)count * sizeof *values;
    add_tensor(graph, name, ONNX__TENSOR_PROTO__DATA_TYPE__INT64, 1, (int64_t[]){count},
               copy(graph, values, bytes), bytes);
    return name;
}

const char *onnx_graph_floats(struct onnx_graph *graph, const char *word, int rank,
                              const int64_t *dims, const float *values)
{
    char *name = scoped(graph, word);
    size_t bytes = sizeof *values;
    for (int i = 0; i < rank; i++)
        bytes *= (size_t)dims[i];
    add_tensor(graph, name, ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT, rank, dims,
               copy(graph, values, bytes), bytes);
    return name;
}

const char *onnx_graph_float(struct onnx_graph *graph, const char *word, float value)
{
    return onnx_graph_floats(graph, word, 0, NULL, &value);
}

void onnx_graph_tensor(struct onnx_graph *graph, const char *name, int rank, const size_t *dims,
                       const float *values)
{
    int64_t sides[ONNX_RANK_MAX];
    size_t bytes = sizeof *values;
    CHECK(rank > 0 && rank <= ONNX_RANK_MAX);
    for (int i = 0; i < rank; i++) {
        sides[i] = (int64_t)dims[i];
        bytes *= dims[i];
    }
    add_tensor(graph, copy(graph, name, strlen(name) + 1), ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT,
               rank, sides, values, bytes);
}

static Onnx__TensorShapeProto *shape_new(struct onnx_graph *graph, int rank,
                                         const struct onnx_side *sides)
{
    Onnx__TensorShapeProto *shape = arena_alloc(graph->arena, 1, sizeof *shape);
    onnx__tensor_shape_proto__init(shape);
    shape->n_dim = (size_t)rank;
    shape->dim = arena_alloc(graph->arena, (size_t)rank, sizeof *shape->dim);
    for (int i = 0; i < rank; i++) {
        Onnx__TensorShapeProto__Dimension *side = arena_alloc(graph->arena, 1, sizeof *side);
        onnx__tensor_shape_proto__dimension__init(side);
        if (sides[i].size > 0) {
            side->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
            side->dim_value = sides[i].size;
        } else {
            side->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM;
            side->dim_param = (char *)sides[i].name;
        }
        shape->dim[i] = side;
    }
    return shape;
}

static Onnx__ValueInfoProto *value_new(struct onnx_graph *graph, const char *name, int type,
                                       int rank, const struct onnx_side *sides)
{
    Onnx__ValueInfoProto *value = arena_alloc(graph->arena, 1, sizeof *value);
    Onnx__TypeProto *of = arena_alloc(graph->arena, 1, sizeof *of);
    Onnx__TypeProto__Tensor *tensor = arena_alloc(graph->arena, 1, sizeof *tensor);
    onnx__value_info_proto__init(value);
    onnx__type_proto__init(of);
    onnx__type_proto__tensor__init(tensor);
    tensor->has_elem_type = true;
    tensor->elem_type = type;
    tensor->shape = shape_new(graph, rank, sides);
    of->value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
    of->tensor_type = tensor;
    value->name = (char *)name;
    value->type = of;
    return value;
}

void onnx_graph_input(struct onnx_graph *graph, const char *name, int type, int rank,
                      const struct onnx_side *sides)
{
    CHECK(graph->proto.n_input == 0);
    graph->proto.input[graph->proto.n_input++] = value_new(graph, name, type, rank, sides);
}

void onnx_graph_output(struct onnx_graph *graph, const char *name, int rank,
                       const struct onnx_side *sides)
{
    CHECK(graph->proto.n_output == 0);
    graph->proto.output[graph->proto.n_output++] =
        value_new(graph, name, ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT, rank, sides);
}
