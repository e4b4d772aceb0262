/* Model folders in the format of transformers. A saved model is loaded unchanged, other files may
 * be present, and errors have messages. */
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
#include <jansson.h>

#include "base/arena.h"
#include "state/model_folder.h"

#define GPT2                                                                                       \
    "embed 9 8, position 6, 2 * (residual(norm, attention 2), residual(norm, dense 12, gelu, "     \
    "dense 8)), norm, logits tied"
#define LLAMA                                                                                      \
    "embed 9 8, 2 * (residual(rmsnorm, attention 4 kv 2 rope plain), residual(rmsnorm, dense 12 "  \
    "plain, swiglu, dense 8 plain)), rmsnorm, dense 9 plain"
#define PARAMETERS_MAX 4096
#define DATA_MAX       (PARAMETERS_MAX * sizeof(float))

static char parent[64], folder[96], config_path[128], tensors_path[128];
static struct arena arena;
static struct model *model;
static float weights[PARAMETERS_MAX], loaded[PARAMETERS_MAX];
static struct problem problem;

/* Header and data of the file with the tensors. */
static json_t *header;
static char data[DATA_MAX];
static size_t data_bytes;

static int make_folder(void **state)
{
    (void)state;
    (void)snprintf(parent, sizeof parent, "/tmp/hearsay-folder-XXXXXX");
    assert_non_null(mkdtemp(parent));
    (void)snprintf(folder, sizeof folder, "%s/model", parent);
    (void)snprintf(config_path, sizeof config_path, "%s/config.json", folder);
    (void)snprintf(tensors_path, sizeof tensors_path, "%s/model.safetensors", folder);
    arena_init(&arena, 1 << 20);
    for (int i = 0; i < PARAMETERS_MAX; i++)
        weights[i] = (float)i / 8 - 20;
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    (void)unlink(config_path);
    (void)unlink(tensors_path);
    (void)rmdir(folder);
    (void)rmdir(parent);
    if (model)
        model_free(model);
    model = NULL;
    arena_release(&arena);
    return 0;
}

static void make_model(const char *line)
{
    if (model)
        model_free(model);
    if (model_new(&model, &arena, NULL, line, (struct shape){1, 1, 1, 5}, 9, 1, &problem) != OK)
        fail_msg("%s", problem.text);
    assert_true(model_parameters(model) <= PARAMETERS_MAX);
}

static void save(const char *line)
{
    const struct safetensors_about about = {.classes = 9, .scale = 1};
    make_model(line);
    (void)unlink(config_path);
    if (model_folder_save(folder, model, &about, weights, &problem) != OK)
        fail_msg("%s", problem.text);
}

static enum error load(void)
{
    char file[MODEL_FOLDER_PATH_BYTES];
    memset(loaded, 0, sizeof loaded);
    model_folder_tensors(file, folder);
    assert_string_equal(file, tensors_path);
    return safetensors_load(file, model, loaded, &problem);
}

static void assert_loads(void)
{
    if (load() != OK)
        fail_msg("%s", problem.text);
    assert_memory_equal(loaded, weights, model_parameters(model) * sizeof *weights);
}

static void assert_says(enum error error, enum error is, const char *words)
{
    if (error != is || !strstr(problem.text, words))
        fail_msg("%d, not %d, or no '%s' in: %s", (int)error, (int)is, words, problem.text);
}

static void take_apart(void)
{
    uint64_t length;
    FILE *file = fopen(tensors_path, "rb");
    assert_non_null(file);
    assert_int_equal(fread(&length, sizeof length, 1, file), 1);
    char *text = malloc(length);
    assert_int_equal(fread(text, 1, length, file), length);
    data_bytes = fread(data, 1, DATA_MAX, file);
    header = json_loadb(text, length, 0, NULL);
    assert_non_null(header);
    free(text);
    (void)fclose(file);
}

static void put_together(void)
{
    char *text = json_dumps(header, JSON_COMPACT);
    const uint64_t length = strlen(text);
    FILE *file = fopen(tensors_path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(&length, sizeof length, 1, file), 1);
    assert_int_equal(fwrite(text, 1, length, file), length);
    assert_int_equal(fwrite(data, 1, data_bytes, file), data_bytes);
    assert_int_equal(fclose(file), 0);
    free(text);
    json_decref(header);
}

static json_t *pack(const char *dtype, int count, int from, int to)
{
    return json_pack("{s:s, s:[i], s:[i, i]}", "dtype", dtype, "shape", count, "data_offsets", from,
                     to);
}

static void write_config(const char *text)
{
    FILE *file = fopen(config_path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void a_saved_folder_loads_unchanged(void **state)
{
    (void)state;
    static const char *const lines[] = {GPT2, LLAMA};
    for (int i = 0; i < 2; i++) {
        struct model_folder_about about;
        save(lines[i]);
        assert_true(model_folder_is(folder));
        assert_int_equal(model_folder_read(folder, &about, &problem), OK);
        assert_string_equal(about.layers, model_line(model));
        assert_int_equal(about.tokens, 9);
        assert_int_equal(about.positions, i == 0 ? 6 : 5);
        assert_int_equal(model_folder_check(folder, model, &problem), OK);
        assert_loads();
    }
}

/* Checks an element of a transposed matrix at the position where PyTorch's Conv1D reads it. */
static void gpt2s_matrices_are_written_by_input(void **state)
{
    (void)state;
    save(GPT2);
    take_apart();
    const json_t *entry = json_object_get(header, "transformer.h.0.mlp.c_fc.weight");
    const json_t *offsets = json_object_get(entry, "data_offsets");
    const size_t from = (size_t)json_integer_value(json_array_get(offsets, 0));
    float number;
    memcpy(&number, data + from + (3 * 12 + 7) * sizeof number, sizeof number);
    for (int i = 0; i < model_tensors(model); i++) {
        const struct tensor tensor = model_tensor(model, i);
        if (strcmp(tensor.name, "5.dense.weight") == 0)
            assert_true(number == weights[tensor.offset + 7 * 8 + 3]);
    }
    assert_string_equal(
        json_string_value(json_object_get(json_object_get(header, "__metadata__"), "format")),
        "pt");
    assert_string_equal(
        json_string_value(json_object_get(json_object_get(header, "__metadata__"), "layers")),
        model_line(model));
    json_decref(header);
}

/* Fields of GPT-2's published configuration, and a configuration of Llama. */
static void a_published_config_is_a_preset(void **state)
{
    (void)state;
    struct model_folder_about about;
    save(GPT2);
    write_config(
        "{\"activation_function\": \"gelu_new\", \"architectures\": [\"GPT2LMHeadModel\"], "
        "\"attn_pdrop\": 0.1, \"layer_norm_epsilon\": 1e-05, \"model_type\": \"gpt2\", "
        "\"n_ctx\": 1024, \"n_embd\": 768, \"n_head\": 12, \"n_layer\": 12, "
        "\"n_positions\": 1024, \"vocab_size\": 50257}");
    assert_int_equal(model_folder_read(folder, &about, &problem), OK);
    assert_string_equal(about.layers, model_preset("gpt2-124m"));
    write_config("{\"model_type\": \"llama\", \"hidden_size\": 768, \"num_hidden_layers\": 12, "
                 "\"num_attention_heads\": 12, \"intermediate_size\": 2048, \"vocab_size\": 50257, "
                 "\"rms_norm_eps\": 1e-05, \"tie_word_embeddings\": true, \"rope_scaling\": null, "
                 "\"rope_parameters\": {\"rope_theta\": 10000.0, \"rope_type\": \"default\"}, "
                 "\"head_dim\": 64}");
    assert_int_equal(model_folder_read(folder, &about, &problem), OK);
    assert_string_equal(about.layers, model_preset("llama-124m"));
    assert_int_equal(about.positions, 2048);
}

static void a_config_that_our_layers_cannot_compute_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum error error;
        const char *words;
    } wrongs[] = {
        {"{", MALFORMED, "is not a JSON object that can be read (line 1"},
        {"[]", MALFORMED, "is not a JSON object; use"},
        {"{}", MISMATCH, "model_type is \"\""},
        {"{\"model_type\": \"mistral\"}", MISMATCH,
         "model_type is \"mistral\", but hearsay supports only"},
        {"{\"model_type\": \"gpt2\", \"n_embd\": 0}", MALFORMED, "n_embd must be a whole number"},
        {"{\"model_type\": \"gpt2\", \"n_layer\": \"2\"}", MALFORMED, "n_layer must be"},
        {"{\"model_type\": \"gpt2\", \"n_head\": 2000000}", MALFORMED, "n_head must be"},
        {"{\"model_type\": \"gpt2\", \"activation_function\": \"gelu\"}", MISMATCH,
         "activation_function is gelu, but hearsay has layers only for gelu_new"},
        {"{\"model_type\": \"gpt2\", \"layer_norm_epsilon\": 1e-6}", MISMATCH,
         "layer_norm_epsilon is 1e-06, but hearsay has layers only for 1e-05"},
        {"{\"model_type\": \"gpt2\", \"scale_attn_by_inverse_layer_idx\": true}", MISMATCH,
         "scale_attn_by_inverse_layer_idx is true"},
        {"{\"model_type\": \"gpt2\", \"tie_word_embeddings\": 1}", MALFORMED, "must be true or"},
        {"{\"model_type\": \"llama\"}", MALFORMED, "vocab_size must be a whole number"},
        {"{\"model_type\": \"llama\", LLAMA}", MISMATCH, "rms_norm_eps is 1e-06"},
        {"{\"model_type\": \"llama\", LLAMA, \"rms_norm_eps\": \"small\"}", MISMATCH,
         "rms_norm_eps is no number"},
        {"{\"model_type\": \"llama\", LLAMA, \"rms_norm_eps\": 1e-5, \"head_dim\": 3}", MISMATCH,
         "head_dim is 3, but hearsay has layers only for 4"},
        {"{\"model_type\": \"llama\", LLAMA, \"rms_norm_eps\": 1e-5, \"rope_theta\": 500000}",
         MISMATCH, "rope_theta is 500000, but hearsay has layers only for 10000"},
        {"{\"model_type\": \"llama\", LLAMA, \"rms_norm_eps\": 1e-5, \"rope_scaling\": {\"type\": "
         "\"linear\"}}",
         MISMATCH, "type is linear"},
        {"{\"model_type\": \"llama\", LLAMA, \"rms_norm_eps\": 1e-5, \"rope_parameters\": "
         "{\"rope_type\": \"llama3\"}}",
         MISMATCH, "rope_type is llama3"},
        {"{\"model_type\": \"llama\", LLAMA, \"rms_norm_eps\": 1e-5, \"attention_bias\": true}",
         MISMATCH, "attention_bias is true"},
        {"{\"model_type\": \"llama\", LLAMA, \"rms_norm_eps\": 1e-5, \"hidden_act\": \"gelu\"}",
         MISMATCH, "hidden_act is gelu"},
    };
    static const char numbers[] =
        "\"vocab_size\": 9, \"hidden_size\": 8, \"num_hidden_layers\": 2, \"num_attention_heads\": "
        "2, \"intermediate_size\": 6";
    save(GPT2);
    for (size_t i = 0; i < sizeof wrongs / sizeof wrongs[0]; i++) {
        struct model_folder_about about;
        char text[512];
        const char *place = strstr(wrongs[i].text, "LLAMA");
        if (place)
            (void)snprintf(text, sizeof text, "%.*s%s%s", (int)(place - wrongs[i].text),
                           wrongs[i].text, numbers, place + 5);
        else
            (void)snprintf(text, sizeof text, "%s", wrongs[i].text);
        write_config(text);
        assert_says(model_folder_read(folder, &about, &problem), wrongs[i].error, wrongs[i].words);
    }
}

static void a_model_that_is_not_the_configs_is_refused(void **state)
{
    (void)state;
    static const char *const others[] = {
        "embed 9 8, position 6, 2 * (residual(norm, attention 4), residual(norm, dense 12, gelu, "
        "dense 8)), norm, logits tied",
        "embed 9 8, position 6, 2 * (residual(norm, attention 2), residual(norm, dense 12, gelu, "
        "dense 8)), norm, logits",
        "embed 9 8, position 6, residual(norm, attention 2), residual(norm, dense 12, gelu, "
        "dense 8), norm, logits tied",
        "embed 9 8, dense 9",
    };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        save(GPT2);
        make_model(others[i]);
        assert_says(model_folder_check(folder, model, &problem), MISMATCH,
                    "config.json says 'embed 9 8, position 6, 2 * (residual(norm, attention 2)");
    }
}

static void tensors_that_are_not_in_one_file_are_missed(void **state)
{
    (void)state;
    char index[160];
    struct model_folder_about about;
    save(GPT2);
    assert_int_equal(unlink(tensors_path), 0);
    assert_says(model_folder_read(folder, &about, &problem), MISSING, "no model.safetensors");
    (void)snprintf(index, sizeof index, "%s.index.json", tensors_path);
    FILE *file = fopen(index, "w");
    assert_non_null(file);
    (void)fclose(file);
    assert_says(model_folder_read(folder, &about, &problem), MISMATCH, "are in several files");
    assert_int_equal(unlink(index), 0);
}

static void a_file_may_leave_the_prefix_out_and_hold_masks(void **state)
{
    (void)state;
    save(GPT2);
    take_apart();
    json_t *bare = json_object();
    const char *name;
    json_t *entry;
    json_object_foreach(header, name, entry)
    {
        const bool is_long = strncmp(name, "transformer.", 12) == 0;
        assert_int_equal(json_object_set(bare, is_long ? name + 12 : name, entry), 0);
    }
    json_decref(header);
    header = bare;
    assert_int_equal(json_object_set_new(header, "h.0.attn.bias", pack("U8", 4, 0, 4)), 0);
    assert_int_equal(json_object_set_new(header, "lm_head.weight", pack("F32", 1, 0, 4)), 0);
    put_together();
    assert_loads();
}

static void each_wrong_tensor_is_named(void **state)
{
    (void)state;
    save(GPT2);
    take_apart();
    assert_int_equal(json_object_del(header, "transformer.h.1.ln_2.bias"), 0);
    put_together();
    assert_says(load(), MISMATCH, "has no tensor transformer.h.1.ln_2.bias: it holds ");
    save(GPT2);
    take_apart();
    json_t *entry = json_object_get(header, "transformer.wpe.weight");
    assert_int_equal(json_object_set_new(entry, "shape", json_pack("[i, i]", 8, 6)), 0);
    put_together();
    assert_says(load(), MISMATCH, "tensor transformer.wpe.weight has another shape");
    save(GPT2);
    take_apart();
    entry = json_object_get(header, "transformer.ln_f.bias");
    assert_int_equal(json_object_set_new(entry, "dtype", json_string("F64")), 0);
    put_together();
    assert_says(load(), MISMATCH, "tensor transformer.ln_f.bias is not F32, F16 or BF16");
    save(GPT2);
    take_apart();
    assert_int_equal(json_object_set_new(header, "transformer.h.2.ln_1.bias", pack("F32", 1, 0, 4)),
                     0);
    put_together();
    assert_says(load(), MISMATCH, "has more tensors than this model");
}

/* Loads a tensor of eight numbers that has type `dtype` in the file. */
static void load_as(const char *dtype, const uint16_t halves[8], float numbers[8])
{
    save(GPT2);
    take_apart();
    json_t *entry = json_object_get(header, "transformer.ln_f.bias");
    json_t *offsets = json_object_get(entry, "data_offsets");
    const json_int_t from = json_integer_value(json_array_get(offsets, 0));
    assert_int_equal(json_object_set_new(entry, "dtype", json_string(dtype)), 0);
    assert_int_equal(json_array_set_new(offsets, 1, json_integer(from + 16)), 0);
    memcpy(data + from, halves, 16);
    /* The halved tensor was the last one. Another tensor must now end the file, because the loader
     * rejects bytes after the last tensor. */
    assert_int_equal(json_object_set_new(header, "h.0.attn.bias",
                                         pack("F32", 1, (int)data_bytes - 4, (int)data_bytes)),
                     0);
    put_together();
    if (load() != OK)
        fail_msg("%s", problem.text);
    for (int i = 0; i < model_tensors(model); i++) {
        const struct tensor tensor = model_tensor(model, i);
        if (strcmp(tensor.name, "14.norm.bias") == 0)
            memcpy(numbers, loaded + tensor.offset, 8 * sizeof *numbers);
    }
}

static void half_precision_is_read_exactly(void **state)
{
    (void)state;
    static const uint16_t f16[8] = {0x3C00, 0xC100, 0x0001, 0x03FF, 0x0400, 0x7BFF, 0x8000, 0xFC00};
    static const float as_f16[8] = {1,        -2.5f, 0x1p-24f, 1023 * 0x1p-24f,
                                    0x1p-14f, 65504, -0.0f,    -INFINITY};
    static const uint16_t bf16[8] = {0x3F80, 0xC020, 0x0001, 0x7F80, 0x8000, 0x4049, 0, 0xFF7F};
    static const float as_bf16[8] = {1,     -2.5f,     0x1p-133f, INFINITY,
                                     -0.0f, 3.140625f, 0,         -0x1.FEp127f};
    float numbers[8];
    load_as("F16", f16, numbers);
    assert_memory_equal(numbers, as_f16, sizeof numbers);
    load_as("BF16", bf16, numbers);
    assert_memory_equal(numbers, as_bf16, sizeof numbers);
}

static void a_model_without_names_is_not_saved(void **state)
{
    (void)state;
    const struct safetensors_about about = {.classes = 9, .scale = 1};
    make_model("embed 9 8, dense 9");
    assert_says(model_folder_save(folder, model, &about, weights, &problem), MISMATCH,
                "the model 'embed 9 8, dense 9' is not a GPT-2, Llama or ResNet");
    assert_int_not_equal(access(folder, F_OK), 0);
    (void)snprintf(folder, sizeof folder, "%s/no/where", parent);
    make_model(GPT2);
    assert_says(model_folder_save(folder, model, &about, weights, &problem), FAILED,
                "cannot create the folder: No such file");
}

/* A refused save leaves both files of the other model as they are. */
static void a_folder_of_another_model_is_not_overwritten(void **state)
{
    (void)state;
    static const char *const configs[] = {NULL, "{", "{\"model_type\": \"mistral\"}"};
    static const float others[PARAMETERS_MAX];
    const struct safetensors_about about = {.classes = 9, .scale = 1};
    for (size_t i = 0; i < sizeof configs / sizeof configs[0]; i++) {
        save(GPT2);
        if (configs[i])
            write_config(configs[i]);
        make_model(configs[i] ? GPT2 : LLAMA);
        assert_says(model_folder_save(folder, model, &about, others, &problem), MISMATCH,
                    "has the config.json of another model; name another folder");
        make_model(GPT2);
        assert_loads();
    }
    save(GPT2);
    assert_int_equal(model_folder_save(folder, model, &about, weights, &problem), OK);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)
    const struct CMUnitTest tests[] = {
        TEST(a_saved_folder_loads_unchanged),
        TEST(gpt2s_matrices_are_written_by_input),
        TEST(a_published_config_is_a_preset),
        TEST(a_config_that_our_layers_cannot_compute_is_refused),
        TEST(a_model_that_is_not_the_configs_is_refused),
        TEST(tensors_that_are_not_in_one_file_are_missed),
        TEST(a_file_may_leave_the_prefix_out_and_hold_masks),
        TEST(each_wrong_tensor_is_named),
        TEST(half_precision_is_read_exactly),
        TEST(a_model_without_names_is_not_saved),
        TEST(a_folder_of_another_model_is_not_overwritten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
