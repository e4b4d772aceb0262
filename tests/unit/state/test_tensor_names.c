/* Names of a model's tensors in other libraries: which models have such names, and that the library
 * finds each number of the flat vector. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "state/names/tensor_names.h"

#define GPT2                                                                                       \
    "embed 9 8, position 6, 2 * (residual(norm, attention 2), residual(norm, dense 12, gelu, "     \
    "dense 8)), norm, logits tied"
#define LLAMA                                                                                      \
    "embed 9 8, 2 * (residual(rmsnorm, attention 4 kv 2 rope plain), residual(rmsnorm, dense 12 "  \
    "plain, swiglu, dense 8 plain)), rmsnorm, logits"
#define LENGTH 5
#define TOKENS 9

static struct arena arena;
static struct model *model;
static struct tensor_names names;

static enum error names_of_data(const char *line, struct shape in, int classes)
{
    struct problem problem = {""};
    arena_init(&arena, 1 << 20);
    if (model_new(&model, &arena, NULL, line, in, classes, 1, &problem) != OK)
        fail_msg("%s", problem.text);
    return tensor_names_family(&names, model, &problem);
}

static enum error names_of(const char *line)
{
    return names_of_data(line, (struct shape){1, 1, 1, LENGTH}, TOKENS);
}

static enum error names_of_images(const char *line)
{
    return names_of_data(line, (struct shape){3, 32, 32, 0}, 10);
}

static void end(void)
{
    tensor_names_free(&names);
    model_free(model);
    arena_release(&arena);
}

static const struct named_tensor *named(const char *name)
{
    for (int i = 0; i < names.count; i++)
        if (strcmp(names.tensor[i].name, name) == 0)
            return &names.tensor[i];
    fail_msg("no %s", name);
    return NULL;
}

static struct tensor own(const char *name)
{
    for (int i = 0; i < model_tensors(model); i++)
        if (strcmp(model_tensor(model, i).name, name) == 0)
            return model_tensor(model, i);
    fail_msg("no %s", name);
    return (struct tensor){0};
}

static void assert_matrix(const char *name, size_t height, size_t width, const char *ours,
                          size_t rows_before, bool is_transposed)
{
    const struct named_tensor *tensor = named(name);
    const struct tensor whole = own(ours);
    assert_int_equal(tensor->rank, 2);
    assert_int_equal(tensor->dims[0], height);
    assert_int_equal(tensor->dims[1], width);
    assert_int_equal(tensor->offset, whole.offset + rows_before * whole.dims[1]);
    assert_int_equal(tensor->is_transposed, is_transposed);
}

/* Checks that the other library's tensor `name` is the model's tensor `ours`. */
static void assert_is(const char *name, const char *ours)
{
    const struct named_tensor *tensor = named(name);
    const struct tensor whole = own(ours);
    assert_int_equal(tensor->rank, whole.rank);
    assert_memory_equal(tensor->dims, whole.dims, sizeof whole.dims);
    assert_int_equal(tensor->offset, whole.offset);
    assert_false(tensor->is_transposed);
}

static void gpt2_has_one_turned_matrix_for_queries_keys_and_values(void **state)
{
    (void)state;
    assert_int_equal(names_of(GPT2), OK);
    assert_int_equal(names.count, 2 + 2 * 12 + 2);
    assert_matrix("transformer.wte.weight", 9, 8, "0.embed.weight", 0, false);
    assert_matrix("transformer.wpe.weight", 6, 8, "1.position.weight", 0, false);
    assert_matrix("transformer.h.0.attn.c_attn.weight", 8, 24, "3.attention.qkv.weight", 0, true);
    assert_matrix("transformer.h.1.attn.c_attn.weight", 8, 24, "9.attention.qkv.weight", 0, true);
    assert_matrix("transformer.h.1.mlp.c_fc.weight", 8, 12, "11.dense.weight", 0, true);
    assert_matrix("transformer.h.1.mlp.c_proj.weight", 12, 8, "13.dense.weight", 0, true);
    assert_int_equal(named("transformer.h.1.ln_2.bias")->offset, own("10.norm.bias").offset);
    assert_int_equal(named("transformer.ln_f.weight")->offset, own("14.norm.weight").offset);
    end();
}

static void llama_has_a_matrix_each(void **state)
{
    (void)state;
    assert_int_equal(names_of(LLAMA), OK);
    assert_int_equal(names.count, 1 + 2 * 9 + 2);
    assert_matrix("model.layers.1.self_attn.q_proj.weight", 8, 8, "8.attention.qkv.weight", 0,
                  false);
    assert_matrix("model.layers.1.self_attn.k_proj.weight", 4, 8, "8.attention.qkv.weight", 8,
                  false);
    assert_matrix("model.layers.1.self_attn.v_proj.weight", 4, 8, "8.attention.qkv.weight", 12,
                  false);
    assert_matrix("model.layers.0.mlp.gate_proj.weight", 6, 8, "4.dense.weight", 0, false);
    assert_matrix("model.layers.0.mlp.up_proj.weight", 6, 8, "4.dense.weight", 6, false);
    assert_matrix("model.layers.0.mlp.down_proj.weight", 8, 6, "6.dense.weight", 0, false);
    assert_matrix("lm_head.weight", 9, 8, "14.logits.weight", 0, false);
    end();
}

static bool is_spelled(const char *name, const char *as)
{
    char spelling[NAMED_TENSOR_BYTES];
    for (int i = 0; tensor_names_spelling(&names, name, i, spelling); i++)
        if (strcmp(spelling, as) == 0)
            return true;
    return false;
}

static void each_number_is_named_once(void **state)
{
    (void)state;
    static const char *const lines[] = {GPT2, LLAMA};
    for (int l = 0; l < 2; l++) {
        static unsigned char times[4096];
        memset(times, 0, sizeof times);
        assert_int_equal(names_of(lines[l]), OK);
        assert_true(model_parameters(model) <= sizeof times);
        for (int i = 0; i < names.count; i++)
            for (size_t j = 0; j < named_tensor_count(&names.tensor[i]); j++)
                times[names.tensor[i].offset + j]++;
        for (size_t i = 0; i < model_parameters(model); i++)
            assert_int_equal(times[i], 1);
        end();
    }
}

static void a_line_may_be_written_in_any_way(void **state)
{
    (void)state;
    assert_int_equal(
        names_of("embed 9 8, position 6, residual(norm, attention 2), 1 * "
                 "residual(norm, dense 12, gelu, dense 8), (residual(norm, attention 2 "
                 "kv 2), residual((norm, dense 12), gelu, dense 8)), norm, logits "
                 "tied"),
        OK);
    assert_matrix("transformer.h.1.mlp.c_fc.weight", 8, 12, "11.dense.weight", 0, true);
    end();
}

/* A dropout computes nothing in a trained model, so it has no tensor. */
static void dropouts_are_looked_past(void **state)
{
    (void)state;
    assert_int_equal(
        names_of("embed 9 8, position 6, dropout 0.1, 2 * (residual(norm, attention 2, "
                 "dropout 0.1), residual(norm, dense 12, gelu, dense 8, dropout 0.1)), "
                 "norm, logits tied"),
        OK);
    assert_is("transformer.wpe.weight", "1.position.weight");
    assert_is("transformer.h.0.ln_1.weight", "3.norm.weight");
    assert_matrix("transformer.h.1.mlp.c_proj.weight", 12, 8, "17.dense.weight", 0, true);
    assert_is("transformer.ln_f.bias", "19.norm.bias");
    end();
    assert_int_equal(names_of_images("conv 8 3x3 plain, batchnorm, relu, residual(conv 8 3x3 pad 1 "
                                     "plain, batchnorm, dropout 0.2), relu, avgpool, dropout 0.5, "
                                     "dense 10"),
                     OK);
    assert_is("layer1.0.conv1.weight", "3.conv.weight");
    assert_is("fc.weight", "9.dense.weight");
    end();
}

/* Each line differs little from a model that has names. */
static void other_models_have_none(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "embed 9 8, dense 9",
        "embed 9 8, position 6, norm, logits tied",
        "embed 9 8, residual(norm, attention 2), residual(norm, dense 12, gelu, dense 8), norm, "
        "logits tied",
        "embed 9 8, position 6, residual(norm, attention 2 kv 1), residual(norm, dense 12, gelu, "
        "dense 8), norm, logits tied",
        "embed 9 8, position 6, residual(norm, attention 2 plain), residual(norm, dense 12, gelu, "
        "dense 8), norm, logits tied",
        "embed 9 8, position 6, residual(norm, attention 2), residual(norm, dense 12, relu, dense "
        "8), norm, logits tied",
        "embed 9 8, position 6, residual(norm, attention 2), residual(norm, dense 12, gelu, dense "
        "8), residual(norm, attention 4), residual(norm, dense 12, gelu, dense 8), norm, logits "
        "tied",
        "embed 9 8, position 6, residual(attention 2), residual(norm, dense 12, gelu, dense 8), "
        "norm, logits tied",
        "embed 12 8, position 6, residual(norm, attention 2), residual(norm, dense 12, gelu, dense "
        "8), norm, logits",
        "embed 9 8, residual(rmsnorm, attention 4 plain), residual(rmsnorm, dense 12 plain, "
        "swiglu, "
        "dense 8 plain), rmsnorm, logits",
        "embed 9 8, residual(rmsnorm, attention 4 rope plain), residual(rmsnorm, dense 12, swiglu, "
        "dense 8 plain), rmsnorm, logits",
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        if (names_of(lines[i]) != MISMATCH)
            fail_msg("%s", lines[i]);
        end();
    }
}

static void accepts_known_optional_and_extra_tensors(void **state)
{
    (void)state;
    assert_int_equal(names_of(GPT2), OK);
    assert_true(is_spelled("transformer.wte.weight", "transformer.wte.weight"));
    assert_true(is_spelled("transformer.wte.weight", "wte.weight"));
    assert_false(is_spelled("lm_head.weight", "weight"));
    assert_true(tensor_names_spare(&names, "h.0.attn.bias"));
    assert_true(tensor_names_spare(&names, "transformer.h.0.attn.masked_bias"));
    assert_false(tensor_names_spare(&names, "h.0.attn.c_attn.bias"));
    end();
}

static void resnets_count_blocks_from_each_shortcut_on(void **state)
{
    (void)state;
    assert_int_equal(names_of_images(model_preset("resnet20")), OK);
    assert_int_equal(names.count, 5 * 21 + 2);
    assert_is("conv1.weight", "0.conv.weight");
    assert_is("bn1.running_var", "1.batchnorm.running_var");
    assert_is("layer1.0.conv1.weight", "3.conv.weight");
    assert_is("layer1.0.bn2.bias", "7.batchnorm.bias");
    assert_is("layer1.2.conv2.weight", "18.conv.weight");
    assert_is("layer2.0.conv1.weight", "21.conv.weight");
    assert_is("layer2.0.downsample.0.weight", "26.conv.weight");
    assert_is("layer2.0.downsample.1.running_mean", "27.batchnorm.running_mean");
    assert_is("layer2.1.conv1.weight", "29.conv.weight");
    assert_is("layer3.0.conv1.weight", "41.conv.weight");
    assert_is("layer3.2.bn2.weight", "59.batchnorm.weight");
    assert_is("fc.weight", "62.dense.weight");
    assert_is("fc.bias", "62.dense.bias");
    assert_true(is_spelled("fc.bias", "linear.bias"));
    assert_true(is_spelled("layer2.0.downsample.0.weight", "layer2.0.shortcut.0.weight"));
    assert_true(tensor_names_spare(&names, "layer1.0.bn1.num_batches_tracked"));
    end();
}

#define STEM "conv 8 7x7 stride 2 pad 3 plain, batchnorm, relu, maxpool 2, "
#define BOTTLENECK                                                                                 \
    "conv 4 1x1 plain, batchnorm, relu, conv 4 3x3 pad 1 plain, batchnorm, relu, conv 8 1x1 "      \
    "plain, batchnorm"
#define SHORTCUT "conv 8 1x1 plain, batchnorm"

static void bottlenecks_have_three_convolutions_and_a_first_shortcut(void **state)
{
    (void)state;
    assert_int_equal(names_of_images(STEM "residual(" BOTTLENECK " | " SHORTCUT
                                          "), relu, residual(" BOTTLENECK
                                          "), relu, avgpool, dense 10"),
                     OK);
    assert_is("layer1.0.conv3.weight", "10.conv.weight");
    assert_is("layer1.0.downsample.0.weight", "12.conv.weight");
    assert_is("layer1.1.conv3.weight", "21.conv.weight");
    end();
    assert_int_equal(names_of_images(model_preset("resnet18")), OK);
    assert_is("layer4.1.conv2.weight", "54.conv.weight");
    end();
}

/* The first two lines have no residual block. Each other line differs by one layer from an image
 * model that has names. */
static void other_nets_of_images_have_none(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "dense 10",
        "conv 8 3x3 pad 1 plain, batchnorm, relu, avgpool, dense 10",
        STEM "residual(" BOTTLENECK " | " SHORTCUT "), relu, dense 10",
        STEM "residual(" BOTTLENECK " | " SHORTCUT "), avgpool, dense 10",
        STEM "residual(" BOTTLENECK " | conv 8 1x1 plain), relu, avgpool, dense 10",
        STEM "residual(conv 8 3x3 pad 1, batchnorm), relu, avgpool, dense 10",
        STEM "residual(conv 8 3x3 pad 1 plain, groupnorm 2), relu, avgpool, dense 10",
        STEM "residual(conv 8 3x3 pad 1 plain, batchnorm), relu, avgpool, dense 10, dense 10",
        STEM "residual(conv 8 3x3 pad 1 plain, batchnorm), relu, avgpool, dense 10 plain",
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        if (names_of_images(lines[i]) != MISMATCH)
            fail_msg("%s", lines[i]);
        end();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gpt2_has_one_turned_matrix_for_queries_keys_and_values),
        cmocka_unit_test(llama_has_a_matrix_each),
        cmocka_unit_test(each_number_is_named_once),
        cmocka_unit_test(a_line_may_be_written_in_any_way),
        cmocka_unit_test(dropouts_are_looked_past),
        cmocka_unit_test(other_models_have_none),
        cmocka_unit_test(resnets_count_blocks_from_each_shortcut_on),
        cmocka_unit_test(bottlenecks_have_three_convolutions_and_a_first_shortcut),
        cmocka_unit_test(other_nets_of_images_have_none),
        cmocka_unit_test(accepts_known_optional_and_extra_tensors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
