/* A config.json of transformers, beside a model's tensors. An accepted file has the numbers that
 * jansson finds in it. If its line makes a model, the file describes this model, and the
 * config.json that hearsay writes for a small model says the same. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/arena.h"
#include "fuzz/file.h"
#include "fuzz/fuzz.h"
#include "state/model_folder.h"

#define NUMBER_MAX     1000000
#define PARAMETERS_MAX 20000
#define LENGTH_MAX     16

static struct file file;
static char folder[] = "/tmp/hearsay-fuzz-XXXXXX";
static char config[64], tensors[64], saved[64], saved_config[96], saved_tensors[96];

static void end(void)
{
    (void)unlink(config);
    (void)unlink(tensors);
    (void)unlink(saved_config);
    (void)unlink(saved_tensors);
    (void)rmdir(saved);
    (void)rmdir(folder);
}

/* The config.json is a link to the harness's file. */
void fuzz_begin(void)
{
    file_init(&file);
    CHECK(mkdtemp(folder) && atexit(end) == 0);
    (void)snprintf(config, sizeof config, "%s/config.json", folder);
    (void)snprintf(tensors, sizeof tensors, "%s/model.safetensors", folder);
    (void)snprintf(saved, sizeof saved, "%s/saved", folder);
    (void)snprintf(saved_config, sizeof saved_config, "%s/config.json", saved);
    (void)snprintf(saved_tensors, sizeof saved_tensors, "%s/model.safetensors", saved);
    FILE *empty = fopen(tensors, "w");
    CHECK(empty && fclose(empty) == 0 && symlink(file.path, config) == 0);
}

/* Checks that `number`, as the reader read it, is the value of `key` in the file. `otherwise`: its
 * value if the file lacks the key; 0 = the key is required. */
static void is_number(const json_t *object, const char *key, int number, int otherwise)
{
    const json_t *value = json_object_get(object, key);
    CHECK(number >= 1 && number <= NUMBER_MAX);
    CHECK(json_is_integer(value) ? json_integer_value(value) == number
                                 : (!value || json_is_null(value)) && number == otherwise);
}

static void is_read(const struct model_folder_about *about, const uint8_t *data, size_t bytes)
{
    json_t *object = json_loadb((const char *)data, bytes, JSON_REJECT_DUPLICATES, NULL);
    const char *type = json_string_value(json_object_get(object, "model_type"));
    CHECK(type && memchr(about->layers, 0, sizeof about->layers));
    if (strcmp(type, "gpt2") == 0) {
        is_number(object, "vocab_size", about->tokens, 50257);
        is_number(object, "n_positions", about->positions, 1024);
    } else {
        CHECK(strcmp(type, "llama") == 0);
        is_number(object, "vocab_size", about->tokens, 0);
        is_number(object, "max_position_embeddings", about->positions, 2048);
    }
    json_decref(object);
}

static void comes_back(const struct model *model, const struct model_folder_about *about)
{
    const struct safetensors_about what = {.classes = about->tokens, .scale = 1};
    static float weights[PARAMETERS_MAX];
    static struct model_folder_about written;
    struct problem problem = {""};
    (void)unlink(saved_config);
    (void)unlink(saved_tensors);
    CHECK(model_folder_save(saved, model, &what, weights, &problem) == OK);
    CHECK(model_folder_read(saved, &written, &problem) == OK);
    CHECK(model_folder_check(saved, model, &problem) == OK);
    CHECK(written.tokens == about->tokens && strcmp(written.layers, about->layers) == 0);
}

static void look_at(const struct model_folder_about *about)
{
    const struct shape in = {.channels = 1,
                             .height = 1,
                             .width = 1,
                             .length =
                                 about->positions < LENGTH_MAX ? about->positions : LENGTH_MAX};
    struct problem problem = {""};
    struct model *model;
    struct arena arena;
    arena_init_growing(&arena);
    if (model_new(&model, &arena, NULL, about->layers, in, about->tokens, 1, &problem) == OK) {
        CHECK(model_folder_check(folder, model, &problem) == OK && problem.text[0] == 0);
        if (model_parameters(model) <= PARAMETERS_MAX)
            comes_back(model, about);
        model_free(model);
    }
    arena_release(&arena);
}

/* Makes a JSON object of keys that the reader knows, each with a value of any type. Arbitrary text
 * would mostly be invalid JSON and not reach the reader. The caller frees the text. */
static char *make_object(struct input *input)
{
    static const char *const keys[] = {"vocab_size",
                                       "n_embd",
                                       "n_positions",
                                       "n_layer",
                                       "n_head",
                                       "n_inner",
                                       "activation_function",
                                       "layer_norm_epsilon",
                                       "tie_word_embeddings",
                                       "hidden_size",
                                       "max_position_embeddings",
                                       "num_hidden_layers",
                                       "num_attention_heads",
                                       "num_key_value_heads",
                                       "intermediate_size",
                                       "head_dim",
                                       "hidden_act",
                                       "rms_norm_eps",
                                       "attention_bias",
                                       "rope_theta",
                                       "rope_type",
                                       "type"};
    static const char *const words[] = {"gelu_new", "silu", "default", "linear", "\n"};
    static const double reals[] = {1e-5, 1e-6, 1e4, 1, 2, 0, -1, 1e300};
    const uint8_t shape = input_byte(input);
    json_t *object = json_pack("{s:s}", "model_type", shape & 1 ? "gpt2" : "llama");
    json_t *nested = json_object(), *to = object;
    while (input->left > 0) {
        const uint8_t key = input_byte(input), value = input_byte(input);
        json_t *is = value < 64    ? json_integer(value)
                     : value < 96  ? json_integer((json_int_t)input_number(input, 3))
                     : value < 128 ? json_real(reals[value % 8])
                     : value < 160 ? json_string(words[value % 5])
                     : value < 192 ? json_boolean(value & 1)
                     : value < 208 ? json_integer((json_int_t)input_number(input, 8))
                                   : json_null();
        to = key & 128 ? nested : object;
        CHECK(json_object_set_new(to, keys[key % (sizeof keys / sizeof *keys)], is) == 0);
    }
    const char *place = shape & 2 ? "rope_parameters" : "rope_scaling";
    CHECK(json_object_set_new(object, place, shape & 4 ? nested : json_null()) == 0);
    if (!(shape & 4))
        json_decref(nested);
    char *text = json_dumps(object, 0);
    CHECK(text);
    json_decref(object);
    return text;
}

static void look_at_file(const uint8_t *data, size_t bytes)
{
    static struct model_folder_about about;
    struct problem problem = {""};
    file_put(&file, data, bytes);
    CHECK(model_folder_is(folder));
    const enum error error = model_folder_read(folder, &about, &problem);
    CHECK((error == OK) == (problem.text[0] == 0));
    for (const char *at = problem.text; *at; at++)
        CHECK((unsigned char)*at >= ' ' && *at != 0x7f);
    if (error != OK)
        return;
    is_read(&about, data, bytes);
    look_at(&about);
}

/* An input that begins with a zero makes an object (make_object). Any other input is the file. */
void fuzz_one(const uint8_t *data, size_t bytes)
{
    struct input input = {data, bytes};
    if (bytes == 0 || data[0] != 0) {
        look_at_file(data, bytes);
        return;
    }
    (void)input_byte(&input);
    char *text = make_object(&input);
    look_at_file((const uint8_t *)text, strlen(text));
    free(text);
}
