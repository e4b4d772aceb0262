/* Text and tokens, from the file to training windows: tokens are below the number of classes. */
#include "data/dataset.h"
#include "fuzz/file.h"
#include "fuzz/fuzz.h"

#define KINDS 4 /* text or tokens, each plain or in gzip */

static struct file file;

void fuzz_begin(void)
{
    file_init(&file);
}

static uint32_t token(const struct dataset *dataset, size_t i)
{
    uint32_t token = 0; /* the machine and the format are little-endian */
    memcpy(&token, (const uint8_t *)dataset->tokens + i * (size_t)dataset->token_bytes,
           (size_t)dataset->token_bytes);
    return token;
}

static void look_at(const struct dataset *dataset)
{
    CHECK(dataset->count > 0 && dataset->classes >= 2);
    CHECK(dataset->tokens_count > (size_t)dataset->count * dataset_stride(dataset));
    for (size_t i = 0; i < dataset->tokens_count; i++)
        CHECK(token(dataset, i) < (uint32_t)dataset->classes);
}

void fuzz_one(const uint8_t *data, size_t bytes)
{
    struct input input = {data, bytes};
    const uint8_t kind = input_byte(&input) % KINDS;
    const uint8_t shards = (uint8_t)(1 + input_byte(&input) % 3);
    const struct dataset_options options = {.source = kind & 1 ? DATASET_TEXT : DATASET_TOKENS,
                                            .files = file.path,
                                            .context = DATASET_CONTEXT_MIN + input_byte(&input),
                                            .shard = shards - 1u,
                                            .shards = shards};
    struct dataset dataset = {0};
    struct problem problem = {""};
    if (kind & 2)
        file_put_packed(&file, input.at, input.left);
    else
        file_put(&file, input.at, input.left);
    for (int train = 0; train < 2; train++) {
        const enum error error = train ? dataset_load_train(&dataset, &options, &problem)
                                       : dataset_load_test(&dataset, &options, &problem);
        CHECK((error == OK) == (problem.text[0] == 0));
        if (error != OK)
            return;
        look_at(&dataset);
        dataset_free(&dataset);
    }
}
