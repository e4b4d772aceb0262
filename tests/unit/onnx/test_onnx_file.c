/* ONNX files, read with protobuf-c: their contents, and that each graph is consistent.
 * tests/process/test_onnx.py compares what the graphs compute. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <onnx.pb-c.h>

#include "base/arena.h"
#include "onnx/onnx_file.h"

#define NAMES_MAX 4096
#define LENET                                                                                      \
    "conv 4 5x5 pad 2, relu, maxpool 2, conv 6 3x3 stride 2 groups 2 plain, relu, dense 9, tanh, " \
    "dropout 0.5, dense 10"

static const struct shape image = {2, 12, 12, 0}, sequence = {1, 1, 1, 6};

static char folder[64], path[96];
static struct arena arena;
static struct model *model;
static float *weights;
static Onnx__ModelProto *proto;
static struct problem problem;

static int make_folder(void **state)
{
    (void)state;
    (void)snprintf(folder, sizeof folder, "/tmp/hearsay-onnx-XXXXXX");
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/model.onnx", folder);
    arena_init_growing(&arena);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    if (proto)
        onnx__model_proto__free_unpacked(proto, NULL);
    proto = NULL;
    (void)unlink(path);
    assert_int_equal(rmdir(folder), 0); /* fails if another file is in the folder */
    if (model)
        model_free(model);
    model = NULL;
    arena_release(&arena);
    return 0;
}

static void make_model(const char *line, struct shape in, int classes)
{
    if (model)
        model_free(model);
    if (model_new(&model, &arena, NULL, line, in, classes, 1, &problem) != OK)
        fail_msg("%s", problem.text);
    weights = arena_alloc(&arena, model_parameters(model), sizeof *weights);
    for (size_t i = 0; i < model_parameters(model); i++)
        weights[i] = (float)i / 8;
}

static void read_back(void)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    const size_t bytes = (size_t)ftell(file);
    uint8_t *data = arena_alloc(&arena, bytes, 1);
    rewind(file);
    assert_int_equal(fread(data, 1, bytes, file), bytes);
    (void)fclose(file);
    if (proto)
        onnx__model_proto__free_unpacked(proto, NULL);
    proto = onnx__model_proto__unpack(NULL, bytes, data);
    assert_non_null(proto);
}

static const Onnx__GraphProto *exported(const struct safetensors_about *about)
{
    if (onnx_file_save(path, model, about, weights, &problem) != OK)
        fail_msg("%s", problem.text);
    read_back();
    return proto->graph;
}

static const struct safetensors_about bytes_learned = {.mean = 33.5f, .scale = 0.25f},
                                      floats_learned = {.scale = 1},
                                      numbers_learned = {.scale = 1, .is_regression = true};

static const Onnx__TensorProto *tensor(const char *name)
{
    for (size_t i = 0; i < proto->graph->n_initializer; i++)
        if (strcmp(proto->graph->initializer[i]->name, name) == 0)
            return proto->graph->initializer[i];
    fail_msg("no tensor %s", name);
    return NULL;
}

static int count_of(const char *operation)
{
    int count = 0;
    for (size_t i = 0; i < proto->graph->n_node; i++)
        count += strcmp(proto->graph->node[i]->op_type, operation) == 0;
    return count;
}

static void assert_operations(const char *const *operations, size_t count)
{
    assert_int_equal(proto->graph->n_node, count);
    for (size_t i = 0; i < count; i++)
        assert_string_equal(proto->graph->node[i]->op_type, operations[i]);
}

/* Checks a dimension of an input or output: a size, or a name such as "batch". */
static void assert_side(const Onnx__ValueInfoProto *value, size_t which, const char *expected)
{
    char text[32];
    const Onnx__TensorShapeProto *shape = value->type->tensor_type->shape;
    assert_true(which < shape->n_dim);
    const Onnx__TensorShapeProto__Dimension *side = shape->dim[which];
    if (side->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM)
        (void)snprintf(text, sizeof text, "%s", side->dim_param);
    else
        (void)snprintf(text, sizeof text, "%d", (int)side->dim_value);
    assert_string_equal(text, expected);
}

static bool is_among(const char *name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* Checks that each node reads existing values, that names are unique, and that every tensor is
 * used. */
static void assert_holds_together(void)
{
    static const char *known[NAMES_MAX], *read[NAMES_MAX];
    const Onnx__GraphProto *graph = proto->graph;
    size_t names = 0, reads = 0;
    for (size_t i = 0; i < graph->n_initializer; i++) {
        assert_false(is_among(graph->initializer[i]->name, known, names));
        known[names++] = graph->initializer[i]->name;
    }
    known[names++] = graph->input[0]->name;
    for (size_t i = 0; i < graph->n_node; i++) {
        const Onnx__NodeProto *node = graph->node[i];
        assert_true(node->n_input > 0 && names + node->n_output < NAMES_MAX);
        for (size_t k = 0; k < node->n_input; k++) {
            if (!is_among(node->input[k], known, names))
                fail_msg("%s reads %s, which is not there", node->name, node->input[k]);
            read[reads++] = node->input[k];
        }
        for (size_t k = 0; k < node->n_output; k++) {
            if (is_among(node->output[k], known, names))
                fail_msg("%s is given twice", node->output[k]);
            known[names++] = node->output[k];
        }
    }
    for (size_t i = 0; i < graph->n_initializer; i++)
        if (!is_among(graph->initializer[i]->name, read, reads))
            fail_msg("nobody reads %s", graph->initializer[i]->name);
    assert_true(is_among(graph->output[0]->name, known, names));
}

static void test_images_become_one_operation_a_layer(void **state)
{
    (void)state;
    static const char *const operations[] = {"Cast",    "Sub",  "Mul",     "Conv",    "Relu",
                                             "MaxPool", "Conv", "Relu",    "Flatten", "Gemm",
                                             "Tanh",    "Gemm", "Identity"};
    make_model(LENET, image, 10);
    const Onnx__GraphProto *graph = exported(&bytes_learned);
    assert_operations(operations, sizeof operations / sizeof operations[0]);
    assert_holds_together();
    assert_int_equal(proto->ir_version, 8);
    assert_int_equal(proto->opset_import[0]->version, 17);
    assert_string_equal(graph->input[0]->name, "pixels");
    assert_int_equal(graph->input[0]->type->tensor_type->elem_type,
                     ONNX__TENSOR_PROTO__DATA_TYPE__UINT8);
    assert_side(graph->input[0], 0, "batch");
    assert_side(graph->input[0], 1, "2");
    assert_side(graph->input[0], 3, "12");
    assert_string_equal(graph->output[0]->name, "logits");
    assert_side(graph->output[0], 0, "batch");
    assert_side(graph->output[0], 1, "10");
}

static void test_tensors_have_the_names_sides_and_numbers_of_the_model(void **state)
{
    (void)state;
    make_model(LENET, image, 10);
    (void)exported(&floats_learned);
    assert_int_equal(proto->graph->n_initializer, model_tensors(model));
    for (int i = 0; i < model_tensors(model); i++) {
        const struct tensor ours = model_tensor(model, i);
        const Onnx__TensorProto *theirs = tensor(ours.name);
        size_t count = 1;
        assert_int_equal(theirs->n_dims, ours.rank);
        for (int k = 0; k < ours.rank; k++) {
            assert_int_equal(theirs->dims[k], ours.dims[k]);
            count *= ours.dims[k];
        }
        assert_int_equal(theirs->data_type, ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT);
        assert_int_equal(theirs->raw_data.len, count * sizeof(float));
        assert_memory_equal(theirs->raw_data.data, weights + ours.offset, count * sizeof(float));
    }
}

static const Onnx__AttributeProto *attribute(const Onnx__NodeProto *node, const char *name)
{
    for (size_t i = 0; i < node->n_attribute; i++)
        if (strcmp(node->attribute[i]->name, name) == 0)
            return node->attribute[i];
    fail_msg("%s has no %s", node->name, name);
    return NULL;
}

static void test_a_convolution_says_stride_pad_and_groups(void **state)
{
    (void)state;
    make_model("conv 6 3x3 stride 2 pad 1 groups 2, dense 10", image, 10);
    const Onnx__NodeProto *conv = exported(&floats_learned)->node[0];
    assert_string_equal(conv->op_type, "Conv");
    assert_int_equal(conv->n_input, 3);
    assert_int_equal(attribute(conv, "group")->i, 2);
    assert_int_equal(attribute(conv, "strides")->ints[1], 2);
    assert_int_equal(attribute(conv, "pads")->n_ints, 4);
    assert_int_equal(attribute(conv, "pads")->ints[3], 1);
    assert_int_equal(attribute(conv, "kernel_shape")->ints[0], 3);
}

static void test_bytes_are_normalised_in_the_graph_and_floats_are_not(void **state)
{
    (void)state;
    float mean, scale;
    make_model("dense 10", image, 10);
    (void)exported(&bytes_learned);
    memcpy(&mean, tensor("normalise/mean")->raw_data.data, sizeof mean);
    memcpy(&scale, tensor("normalise/scale")->raw_data.data, sizeof scale);
    assert_true(mean == bytes_learned.mean && scale == bytes_learned.scale);
    const Onnx__GraphProto *graph = exported(&floats_learned);
    assert_string_equal(graph->input[0]->name, "x");
    assert_int_equal(count_of("Cast"), 0);
    assert_string_equal(exported(&numbers_learned)->output[0]->name, "numbers");
}

static void test_a_residual_adds_its_two_ways(void **state)
{
    (void)state;
    make_model("residual(conv 2 3x3 pad 1, batchnorm, relu | conv 2 1x1 plain), residual(relu), "
               "avgpool, dense 10",
               image, 10);
    const Onnx__GraphProto *graph = exported(&floats_learned);
    assert_holds_together();
    assert_int_equal(count_of("Add"), 2);
    for (size_t i = 0; i < graph->n_node; i++) {
        if (strcmp(graph->node[i]->name, "residual.0") == 0) {
            assert_string_equal(graph->node[i]->input[0], "2.relu");
            assert_string_equal(graph->node[i]->input[1], "3.conv");
        }
        if (strcmp(graph->node[i]->name, "residual.1") == 0) {
            assert_string_equal(graph->node[i]->input[0], "4.relu");
            assert_string_equal(graph->node[i]->input[1], "residual.0");
        }
    }
}

static void test_a_variance_below_none_counts_as_none(void **state)
{
    (void)state;
    float variance[2];
    make_model("batchnorm, dense 10", image, 10);
    for (int i = 0; i < model_tensors(model); i++)
        if (strcmp(model_tensor(model, i).name, "0.batchnorm.running_var") == 0)
            weights[model_tensor(model, i).offset] = -1;
    (void)exported(&floats_learned);
    memcpy(variance, tensor("0.batchnorm.running_var")->raw_data.data, sizeof variance);
    assert_true(variance[0] == 0 && variance[1] > 0);
}

static void test_a_tied_table_is_there_once(void **state)
{
    (void)state;
    make_model("embed 9 8, position 7, 2 * (residual(norm, attention 2)), norm, logits tied",
               sequence, 9);
    const Onnx__GraphProto *graph = exported(&floats_learned);
    assert_holds_together();
    assert_int_equal(tensor("0.embed.weight")->dims[0], 9);
    assert_int_equal(count_of("Range"), 1); /* all attention layers use one mask */
    assert_string_equal(graph->input[0]->name, "tokens");
    assert_side(graph->input[0], 1, "positions");
    assert_side(graph->output[0], 1, "positions");
    assert_side(graph->output[0], 2, "9");
    for (size_t i = 0; i < graph->n_initializer; i++)
        assert_null(strstr(graph->initializer[i]->name, "logits"));
}

static void test_every_kind_makes_a_graph_that_holds_together(void **state)
{
    (void)state;
    static const char *const of_images[] = {
        "relu, sigmoid, tanh, gelu, silu, dropout 0.1, dense 10",
        "conv 4 3x3, groupnorm 2, relu, maxpool 3, groupnorm 4, avgpool, swiglu, dense 10",
        "norm, conv 4 3x3, rmsnorm, batchnorm, dense 8, swiglu, conv 6 1x1, dense 10 plain",
        "dense 6, residual(dense 6, conv 6 1x1), residual(conv 6 1x1 | dense 6), dense 10"};
    static const char *const of_sequences[] = {
        "embed 9 8, position 6, relu, dense 12, gelu, dense 8 plain, silu, norm, dropout 0.1, "
        "logits",
        "embed 9 8, residual(rmsnorm, attention 4 kv 2 rope plain), residual(rmsnorm, attention 2 "
        "rope), residual(rmsnorm, attention 4 kv 1 rope), rmsnorm, dense 16, swiglu, dense 9"};
    for (size_t i = 0; i < sizeof of_images / sizeof of_images[0]; i++) {
        make_model(of_images[i], image, 10);
        (void)exported(&bytes_learned);
        assert_holds_together();
    }
    for (size_t i = 0; i < sizeof of_sequences / sizeof of_sequences[0]; i++) {
        make_model(of_sequences[i], sequence, 9);
        (void)exported(&floats_learned);
        assert_holds_together();
    }
}

static void test_every_preset_makes_a_graph_that_holds_together(void **state)
{
    (void)state;
    for (int i = 0; model_preset_name(i); i++) {
        const char *line = model_preset(model_preset_name(i));
        const int tokens = model_line_tokens(line);
        if (tokens > 256 || strcmp(model_preset_name(i), "xor") == 0)
            continue; /* too large, or with two classes */
        make_model(line, tokens ? (struct shape){1, 1, 1, 32} : (struct shape){3, 32, 32, 0},
                   tokens ? tokens : 10);
        (void)exported(&bytes_learned);
        assert_holds_together();
    }
}

static const char *metadata(const char *key)
{
    for (size_t i = 0; i < proto->n_metadata_props; i++)
        if (strcmp(proto->metadata_props[i]->key, key) == 0)
            return proto->metadata_props[i]->value;
    fail_msg("no metadata %s", key);
    return NULL;
}

static void test_the_file_says_what_it_is_of(void **state)
{
    (void)state;
    const struct safetensors_about about = {.scale = 1, .digest = 0xabc, .samples = 77};
    make_model("dense 10", image, 10);
    (void)exported(&about);
    assert_string_equal(metadata("layers"), "dense 10");
    assert_string_equal(metadata("digest"), "0000000000000abc");
    assert_string_equal(metadata("samples"), "77");
    assert_string_equal(proto->producer_name, "hearsay");
}

static void test_what_cannot_be_written_is_said_and_leaves_nothing(void **state)
{
    (void)state;
    static char long_path[8192];
    char nowhere[128];
    make_model("dense 10", image, 10);
    (void)snprintf(nowhere, sizeof nowhere, "%s/none/model.onnx", folder);
    assert_int_equal(onnx_file_save(nowhere, model, &floats_learned, weights, &problem), FAILED);
    assert_non_null(strstr(problem.text, "check that the folder exists"));
    memset(long_path, 'x', sizeof long_path - 1);
    assert_int_equal(onnx_file_save(long_path, model, &floats_learned, weights, &problem), TOO_BIG);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)
    const struct CMUnitTest tests[] = {
        TEST(test_images_become_one_operation_a_layer),
        TEST(test_tensors_have_the_names_sides_and_numbers_of_the_model),
        TEST(test_a_convolution_says_stride_pad_and_groups),
        TEST(test_bytes_are_normalised_in_the_graph_and_floats_are_not),
        TEST(test_a_residual_adds_its_two_ways),
        TEST(test_a_variance_below_none_counts_as_none),
        TEST(test_a_tied_table_is_there_once),
        TEST(test_every_kind_makes_a_graph_that_holds_together),
        TEST(test_every_preset_makes_a_graph_that_holds_together),
        TEST(test_the_file_says_what_it_is_of),
        TEST(test_what_cannot_be_written_is_said_and_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
