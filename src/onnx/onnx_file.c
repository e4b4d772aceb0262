#include "onnx/onnx_file.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "onnx/onnx_graph.h"
#include "onnx/onnx_layers.h"
#include "state/atomic_file.h"

#define IR_VERSION     8
#define OPSET          17
#define METADATA_MAX   4
#define METADATA_BYTES (MODEL_LINE_MAX + 1)
#define SINK_BYTES     65536

static bool learned_floats(const struct safetensors_about *about)
{
    return about->mean == 0 && about->scale == 1;
}

/* Normalises pixels: (pixel - mean) · scale. */
static const char *normalise(struct onnx_graph *graph, const struct safetensors_about *about,
                             const char *pixels)
{
    onnx_graph_enter(graph, "normalise");
    const char *floats = onnx_graph_node(graph, "Cast", "floats", ONNX_INPUTS(pixels));
    onnx_graph_set_int(graph, "to", ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT);
    const char *mean = onnx_graph_float(graph, "mean", about->mean);
    const char *centred = onnx_graph_node(graph, "Sub", "centred", ONNX_INPUTS(floats, mean));
    const char *scale = onnx_graph_float(graph, "scale", about->scale);
    return onnx_graph_node(graph, "Mul", "", ONNX_INPUTS(centred, scale));
}

/* Returns the value that the first layer reads: for pixels, the normalised pixels. */
static struct onnx_value write_input(struct onnx_writer *writer,
                                     const struct safetensors_about *about)
{
    struct onnx_graph *graph = writer->graph;
    const struct shape in = model_input(writer->model);
    const struct onnx_side image[] = {
        {.name = "batch"}, {.size = in.channels}, {.size = in.height}, {.size = in.width}};
    const struct onnx_side sequence[] = {{.name = "batch"}, {.name = "positions"}};
    if (in.length > 0) {
        writer->tokens = "tokens";
        onnx_graph_input(graph, writer->tokens, ONNX__TENSOR_PROTO__DATA_TYPE__INT64, 2, sequence);
        return (struct onnx_value){.name = writer->tokens};
    }
    if (learned_floats(about)) {
        onnx_graph_input(graph, "x", ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT, 4, image);
        return (struct onnx_value){.name = "x"};
    }
    onnx_graph_input(graph, "pixels", ONNX__TENSOR_PROTO__DATA_TYPE__UINT8, 4, image);
    return (struct onnx_value){.name = normalise(graph, about, "pixels")};
}

static void write_output(struct onnx_writer *writer, const struct safetensors_about *about,
                         struct onnx_value last)
{
    const int64_t outputs = model_outputs(writer->model);
    const struct onnx_side row[] = {{.name = "batch"}, {.size = outputs}};
    const struct onnx_side rows[] = {{.name = "batch"}, {.name = "positions"}, {.size = outputs}};
    onnx_graph_enter(writer->graph, "%s", about->is_regression ? "numbers" : "logits");
    const char *name = onnx_graph_node(writer->graph, "Identity", "", ONNX_INPUTS(last.name));
    if (writer->tokens)
        onnx_graph_output(writer->graph, name, 3, rows);
    else
        onnx_graph_output(writer->graph, name, 2, row);
}

/* Replaces negative variances of a batch norm by 0: publications of other nodes may make a variance
 * negative. */
static const float *lift_variances(struct onnx_graph *graph, const float *values, size_t count)
{
    float *lifted = arena_alloc(graph->arena, count, sizeof *lifted);
    for (size_t i = 0; i < count; i++)
        lifted[i] = values[i] < 0 ? 0 : values[i];
    return lifted;
}

static void write_tensors(struct onnx_graph *graph, const struct model *model,
                          const float *host_weights)
{
    for (int i = 0; i < model_tensors(model); i++) {
        const struct tensor tensor = model_tensor(model, i);
        const float *values = host_weights + tensor.offset;
        const bool is_variance = strstr(tensor.name, ".running_var") != NULL;
        onnx_graph_tensor(graph, tensor.name, tensor.rank, tensor.dims,
                          is_variance ? lift_variances(graph, values, tensor.dims[0]) : values);
    }
}

struct metadata {
    Onnx__StringStringEntryProto entry[METADATA_MAX];
    Onnx__StringStringEntryProto *entries[METADATA_MAX];
    char value[METADATA_MAX][METADATA_BYTES];
    size_t count;
};

__attribute__((format(printf, 3, 4))) static void put(struct metadata *metadata, const char *key,
                                                      const char *format, ...)
{
    const size_t i = metadata->count++;
    va_list arguments;
    CHECK(i < METADATA_MAX);
    va_start(arguments, format);
    const int length = vsnprintf(metadata->value[i], METADATA_BYTES, format, arguments);
    va_end(arguments);
    CHECK(length >= 0 && length < METADATA_BYTES);
    onnx__string_string_entry_proto__init(&metadata->entry[i]);
    metadata->entry[i].key = (char *)key;
    metadata->entry[i].value = metadata->value[i];
    metadata->entries[i] = &metadata->entry[i];
}

static void describe(struct metadata *metadata, const struct model *model,
                     const struct safetensors_about *about)
{
    put(metadata, "layers", "%s", model_line(model));
    put(metadata, "digest", "%016" PRIx64, about->digest);
    put(metadata, "samples", "%" PRIu64, about->samples);
    if (model_input(model).length > 0)
        put(metadata, "positions", "%d", model_input(model).length);
}

/* An output buffer, because protobuf-c appends only a few bytes at a time. */
struct sink {
    ProtobufCBuffer buffer;
    struct atomic_file *file;
    size_t used; /* bytes that are not written to the file yet */
    unsigned char bytes[SINK_BYTES];
};

static void sink_flush(struct sink *sink)
{
    atomic_file_write(sink->file, sink->bytes, sink->used);
    sink->used = 0;
}

static void sink_append(ProtobufCBuffer *buffer, size_t bytes, const uint8_t *from)
{
    struct sink *sink = (struct sink *)(void *)buffer;
    if (bytes > SINK_BYTES - sink->used)
        sink_flush(sink);
    if (bytes > SINK_BYTES) {
        atomic_file_write(sink->file, from, bytes);
        return;
    }
    memcpy(sink->bytes + sink->used, from, bytes);
    sink->used += bytes;
}

static enum error save(const char *path, const Onnx__ModelProto *proto, struct problem *problem)
{
    char folder[DISK_PATH_MAX];
    struct atomic_file file;
    struct sink sink = {.buffer = {.append = sink_append}, .file = &file};
    const char *name;
    if (!atomic_file_split(path, folder, &name))
        return problem_set(problem, TOO_BIG, "%.300s...: this path is too long; use a shorter one",
                           path);
    if (protobuf_c_message_get_packed_size(&proto->base) > ONNX_BYTES_MAX)
        return problem_set(problem, TOO_BIG,
                           "%.300s: would be larger than the 2 GiB that an ONNX file may be; "
                           "export the model as safetensors",
                           path);
    atomic_file_begin(&file, disk_real(), folder, name, ATOMIC_FILE_SHARED);
    (void)protobuf_c_message_pack_to_buffer(&proto->base, &sink.buffer);
    sink_flush(&sink);
    const int error = atomic_file_end(&file);
    if (error == 0)
        return OK;
    return problem_set(problem, FAILED,
                       "%.300s: cannot save the model: %s; check that the folder exists, that "
                       "you may write there and that the disk is not full",
                       path, strerror(-error));
}

enum error onnx_file_save(const char *path, const struct model *model,
                          const struct safetensors_about *about, const float *host_weights,
                          struct problem *problem)
{
    struct arena arena;
    struct onnx_graph graph;
    struct metadata metadata = {.count = 0};
    Onnx__OperatorSetIdProto opset, *opsets[] = {&opset};
    Onnx__ModelProto proto;
    arena_init_growing(&arena);
    onnx_graph_init(&graph, &arena, "hearsay");
    struct onnx_writer writer = {.graph = &graph, .model = model};
    write_tensors(&graph, model, host_weights);
    write_output(&writer, about, onnx_layers_write(&writer, write_input(&writer, about)));
    describe(&metadata, model, about);
    onnx__operator_set_id_proto__init(&opset);
    opset.domain = (char *)"";
    opset.has_version = true;
    opset.version = OPSET;
    onnx__model_proto__init(&proto);
    proto.has_ir_version = true;
    proto.ir_version = IR_VERSION;
    proto.n_opset_import = 1;
    proto.opset_import = opsets;
    proto.producer_name = (char *)"hearsay";
    proto.producer_version = (char *)HEARSAY_VERSION;
    proto.graph = &graph.proto;
    proto.n_metadata_props = metadata.count;
    proto.metadata_props = metadata.entries;
    const enum error error = save(path, &proto, problem);
    arena_release(&arena);
    return error;
}
