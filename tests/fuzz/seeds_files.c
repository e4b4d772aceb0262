/* Seeds of harnesses that read files. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/config.h"
#include "frame/bytes.h"
#include "fuzz/seeds.h"
#include "layers/model.h"
#include "state/safetensors.h"
#include "support/state/checkpoint_story.h"

#define TEXT_BYTES (1u << 17)

static void idx_files(void)
{
    static const uint8_t labels[] = {0, 0, 8, 1, 0, 0, 0, 5, 3, 1, 4, 1, 5};
    static const uint8_t images[] = {0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0,
                                     1, 0, 0, 0, 3, 9, 8, 7, 0, 1, 255};
    static const uint8_t colours[] = {0, 0, 8, 4, 0, 0, 0, 1, 0, 0, 0, 3,
                                      0, 0, 0, 1, 0, 0, 0, 1, 9, 8, 7};
    seed_put("idx", "labels", "\0", 1, labels, sizeof labels);
    seed_put("idx", "labels_packed", "\1", 1, labels, sizeof labels);
    seed_put("idx", "images", "\0", 1, images, sizeof images);
    seed_put("idx", "colours_packed", "\1", 1, colours, sizeof colours);
}

/* Each seed begins with three bytes, which choose the kind of file, the number of shards and the
 * context length (fuzz_tokens.c). */
static void token_files(void)
{
    static uint8_t llmc[1024 + 300 * 4];
    for (size_t i = 0; i < 300; i++)
        bytes_put(llmc + 1024 + 2 * i, i, 2);
    seed_put("tokens", "nanogpt", "\0\0\0", 3, llmc + 1024, 600);
    bytes_put(llmc, 20240520, 4);
    bytes_put(llmc + 4, 1, 4);
    bytes_put(llmc + 8, 300, 4);
    seed_put("tokens", "llmc", "\0\1\2", 3, llmc, 1024 + 600);
    for (size_t i = 0; i < 300; i++)
        bytes_put(llmc + 1024 + 4 * i, i, 4);
    bytes_put(llmc, 20240801, 4);
    bytes_put(llmc + 4, 7, 4);
    seed_put("tokens", "llmc_wide", "\0\0\4", 3, llmc, sizeof llmc);
    seed_put("tokens", "text", "\1\0\0", 3, "to be, or not to be: that is the question", 41);
    seed_put("tokens", "text_packed", "\3\2\1", 3, llmc + 1024, 300);
}

static size_t npy(uint8_t *out, const char *descr, const char *shape, const void *numbers,
                  size_t bytes)
{
    char header[118];
    const int length =
        snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }",
                 descr, shape);
    memset(header + length, ' ', sizeof header - (size_t)length);
    header[sizeof header - 1] = '\n';
    memcpy(out, "\x93NUMPY\1\0", 8);
    bytes_put(out + 8, sizeof header, 2);
    memcpy(out + 10, header, sizeof header);
    memcpy(out + 10 + sizeof header, numbers, bytes);
    return 10 + sizeof header + bytes;
}

static void npy_pair(const char *name, const char *x_descr, const char *x_shape, size_t x_bytes,
                     const char *y_descr, const char *y_shape, size_t y_bytes)
{
    static const uint8_t numbers[64] = {1, 0, 3, 0, 2};
    uint8_t head[2], both[512];
    const size_t x = npy(both, x_descr, x_shape, numbers, x_bytes);
    const size_t y = npy(both + x, y_descr, y_shape, numbers, y_bytes);
    bytes_put(head, x, 2);
    seed_put("npy", name, head, sizeof head, both, x + y);
}

static void layer_lines(void)
{
    static const uint8_t image[] = {0, 0, 27, 27, 8}, sequence[] = {64, 0, 0, 0, 8};
    for (int i = 0; model_preset_name(i); i++) {
        const char *name = model_preset_name(i), *line = model_preset(name);
        const bool is_sequence = model_line_tokens(line) > 0;
        seed_put("layers", name, is_sequence ? sequence : image, sizeof image, line, strlen(line));
    }
    static const char odd[] =
        "2*(conv 8 3x3 stride 2 pad 1 groups 1 plain, groupnorm 2), dropout 0.1, "
        "avgpool, sigmoid, tanh, dense 10";
    seed_put("layers", "odd", image, sizeof image, odd, sizeof odd - 1);
}

/* Writes a whole file, and one for which the harness adds the header's length. */
static void tensor_files(void)
{
    static const struct safetensors_about about = {.classes = 2,
                                                   .scale = 1,
                                                   .digest = 7,
                                                   .samples = 64,
                                                   .version = "0a1b2c3d/7:3 0a1b2c3d/9:1"};
    static const float weights[64] = {1, 2, 3};
    static uint8_t file[8 + (1u << 14)];
    char path[] = "/tmp/hearsay-seed-XXXXXX";
    struct arena arena;
    struct model *model;
    const int fd = mkstemp(path);
    arena_init_growing(&arena);
    CHECK(fd >= 0 && model_new(&model, &arena, NULL, "dense 3, relu, dense 2",
                               (struct shape){1, 1, 4, 0}, 2, 1, &problem) == OK);
    CHECK(safetensors_save(path, model, &about, weights, &problem) == OK);
    CHECK(close(fd) == 0);
    FILE *in = fopen(path, "rb");
    CHECK(in);
    const size_t bytes = fread(file, 1, sizeof file, in), header = bytes_get(file, 8);
    CHECK(fclose(in) == 0 && unlink(path) == 0 && 8 + header < bytes && bytes < sizeof file);
    seed_put("safetensors", "whole", "\1", 1, file, bytes);
    memmove(file + 8 + header + 1, file + 8 + header, bytes - 8 - header);
    file[8 + header] = 0;
    seed_put("safetensors", "header", "\0", 1, file + 8, bytes - 8 + 1);
    model_free(model);
    arena_release(&arena);
}

/* Heads of the seeds: whether the seed is a whole file or a stream without checksums, and the
 * number of the reader's optimizer moments. */
static void checkpoints(void)
{
    static uint8_t stream[FILE_MAX];
    memory_disk_init(&disk);
    story_part = 10;
    story_init(&saved, 30, 1);
    series = (struct checkpoint_series){.next = 1};
    CHECK(save(&disk) == OK);
    const struct memory_file *file = file_of(&disk, 1);
    seed_put("checkpoint", "file", "\3", 1, file->bytes, file->size);
    seed_put("checkpoint", "stream", "\2", 1, stream, story_stream(&disk, 1, stream));
    seed_put("checkpoint", "other_optimizer", "\4", 1, stream, story_stream(&disk, 1, stream));
}

/* Writes a file for each section of the configuration, with all keys and no comments. */
static void config_files(void)
{
    static char printed[TEXT_BYTES];
    static char section[TEXT_BYTES];
    static struct config config;
    char name[32] = "";
    size_t used = 0;
    config_defaults(&config);
    FILE *out = fmemopen(printed, sizeof printed, "w");
    CHECK(out);
    config_print(&config, out);
    CHECK(fclose(out) == 0);
    for (char *line = strtok(printed, "\n"); line; line = strtok(NULL, "\n")) {
        if (line[0] == '[' && used > 0)
            seed_put("config", name, NULL, 0, section, used);
        if (line[0] == '[') {
            (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(line + 1, "]"), line + 1);
            used = 0;
        }
        if (line[0] != '#' && line[0] != ';')
            used += (size_t)snprintf(section + used, sizeof section - used, "%s\n", line);
    }
    seed_put("config", name, NULL, 0, section, used);
}

static void put_text(const char *harness, const char *name, const char *head, const char *text)
{
    seed_put(harness, name, head, strlen(head), text, strlen(text));
}

static void member_lists(void)
{
    put_text("member_list", "two", "",
             "# members of the swarm\n"
             "40cc5690477b48d76af0997975c237a107d95d2370ad4e4cfaa4171bdca18218  ward 3\r\n"
             "\n"
             "\tA0CC5690477B48D76AF0997975C237A107D95D2370AD4E4CFAA4171BDCA18218 # no name\n");
}

static void model_folders(void)
{
    put_text("model_folder", "gpt2", "",
             "{\"model_type\": \"gpt2\", \"vocab_size\": 9, \"n_embd\": 8, \"n_positions\": 6,\n"
             "\"n_layer\": 2, \"n_head\": 2, \"n_inner\": null, \"activation_function\": "
             "\"gelu_new\",\n\"layer_norm_epsilon\": 1e-05, \"tie_word_embeddings\": true}\n");
    put_text(
        "model_folder", "llama", "",
        "{\"model_type\": \"llama\", \"vocab_size\": 9, \"hidden_size\": 8,\n"
        "\"max_position_embeddings\": 6, \"num_hidden_layers\": 1, \"num_attention_heads\": 4,\n"
        "\"num_key_value_heads\": 2, \"intermediate_size\": 12, \"hidden_act\": \"silu\",\n"
        "\"rms_norm_eps\": 1e-05, \"head_dim\": 2, \"mlp_bias\": false,\n"
        "\"rope_scaling\": {\"rope_type\": \"default\", \"rope_theta\": 10000.0}}\n");
    /* llama in pairs of a key and a value (fuzz_model_folder.c) */
    static const uint8_t llama[] = {0,  4, 0,  9, 9,  8,  10, 6,   11,  1,
                                    12, 4, 13, 2, 14, 12, 17, 104, 129, 98};
    seed_put("model_folder", "made", NULL, 0, llama, sizeof llama);
    put_text("model_folder", "other", "", "{\"model_type\": \"bert\", \"n_layer\": 2}");
}

static void inference_words(void)
{
    put_text("inference_words", "images", "", "1x28x28 uint8, 10 classes");
    put_text("inference_words", "numbers", "", "1x1x13 float32, 1 numbers");
    put_text("inference_words", "too_large", "", "3x65536x65536 float32, 1000 classes");
}

/* The first byte chooses the values and the axis (fuzz_plot.c): K is loss by time, F loss by bytes,
 * R accuracy by samples. */
static void plot_files(void)
{
    put_text("plot", "log", "K",
             "{\"t\": 0.5, \"note\": \"running\"}\n"
             "{\"t\": 1, \"note\": \"status\", \"loss\": 2.3, \"samples\": 64, "
             "\"bytes_sent\": 10}\n"
             "{\"t\": 2, \"note\": \"evaluated\", \"loss\": 2.1, \"accuracy\": 0.3}\n"
             "{\"t\": 0.5, \"note\": \"status\", \"loss\": 1.9, \"samples\": 32, "
             "\"bytes_sent\": 5}\n"
             "{\"t\": 3, \"note\": \"sta");
    put_text("plot", "csv", "F",
             "at_s,node,loss,samples,sent_bytes\r\n"
             "1,\"a, \"\"b\"\"\",2.5,64,100\n"
             "3,c,2.25,64,320\n"
             "2,\"a, \"\"b\"\"\",,128,300\n"
             "2,c,1e-3,128,310\n"
             "4,c,2\n");
    put_text("plot", "play", "R",
             "{\"strategy\": \"gossip\", \"points\":\n"
             "[{\"at_s\": 1, \"accuracy\": 0.1, \"samples\": 64, \"sent_bytes\": 10},\n"
             "{\"at_s\": 2, \"accuracy\": 0.4, \"samples\": 128, \"sent_bytes\": 30}]}\n");
}

void seeds_files(void)
{
    idx_files();
    token_files();
    npy_pair("bytes", "|u1", "(12, 1, 2)", 24, "<i4", "(12,)", 48);
    npy_pair("floats", "<f4", "(12,)", 48, "<f4", "(12, 1)", 48);
    npy_pair("flags", "|b1", "(12, 1)", 12, "<i2", "(12,)", 24);
    layer_lines();
    tensor_files();
    checkpoints();
    config_files();
    member_lists();
    model_folders();
    inference_words();
    plot_files();
}
