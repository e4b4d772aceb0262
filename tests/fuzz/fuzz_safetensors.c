/* Model files: a model's weights, the metadata, and the version of the base. */
#include <stdlib.h>

#include "frame/bytes.h"
#include "fuzz/file.h"
#include "fuzz/fuzz.h"
#include "state/base_version.h"
#include "state/safetensors.h"

#define LINE           "dense 3, relu, dense 2"
#define PARAMETERS_MAX 64
#define FILE_MAX       (1u << 16)
#define HEAD_BYTES     8

static struct file file;
static struct arena arena;
static struct model *model;

static void end(void)
{
    model_free(model);
    arena_release(&arena);
}

void fuzz_begin(void)
{
    struct problem problem;
    file_init(&file);
    arena_init_growing(&arena);
    CHECK(model_new(&model, &arena, NULL, LINE, (struct shape){1, 1, 4, 0}, 2, 1, &problem) == OK);
    CHECK(model_parameters(model) <= PARAMETERS_MAX && atexit(end) == 0);
}

/* The first byte decides whether the next bytes are the file, or a header and data to which the
 * harness adds a valid header length. The header ends before the first zero. */
static void put_file(struct input *input)
{
    static uint8_t bytes[HEAD_BYTES + FILE_MAX];
    const bool is_raw = input_byte(input) & 1;
    size_t count;
    const uint8_t *from = input_bytes(input, FILE_MAX, &count);
    if (is_raw || count == 0) {
        file_put(&file, from, count);
        return;
    }
    const uint8_t *zero = memchr(from, 0, count);
    const size_t header = zero ? (size_t)(zero - from) : count;
    bytes_put(bytes, header, HEAD_BYTES);
    memcpy(bytes + HEAD_BYTES, from, header);
    const size_t rest = zero ? count - header - 1 : 0;
    if (rest > 0)
        memcpy(bytes + HEAD_BYTES + header, zero + 1, rest);
    file_put(&file, bytes, HEAD_BYTES + header + rest);
}

void fuzz_one(const uint8_t *data, size_t bytes)
{
    struct input input = {data, bytes};
    static char version[SAFETENSORS_VERSION_MAX];
    float weights[PARAMETERS_MAX];
    struct safetensors_about about;
    struct problem problem = {""};
    put_file(&input);
    enum error error = safetensors_load(file.path, model, weights, &problem);
    CHECK((error == OK) == (problem.text[0] == 0));
    if (error == OK)
        (void)safetensors_checksum(weights, model_parameters(model)); /* reads all weights */
    problem.text[0] = 0;
    error = safetensors_read_about(file.path, &about, &problem);
    CHECK((error == OK) == (problem.text[0] == 0));
    CHECK(error != OK || (memchr(about.layers, 0, sizeof about.layers) && about.classes > 0));
    if (safetensors_read_version(file.path, version, &problem) == OK) {
        const struct base_summary all = base_version_summary(version, "");
        const struct base_summary some = base_version_summary(version, "0a");
        CHECK(all.of == 0 && some.rumors == all.rumors && some.members == all.members);
    }
}
