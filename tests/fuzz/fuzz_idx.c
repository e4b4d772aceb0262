/* Files in MNIST's format: an accepted file has as many items as its header says. */
#include <stdlib.h>

#include "data/idx.h"
#include "fuzz/file.h"
#include "fuzz/fuzz.h"

static struct file file;

void fuzz_begin(void)
{
    file_init(&file);
}

static enum error read_all(struct idx *idx, struct problem *problem)
{
    uint8_t *item = malloc(shape_size(idx->shape));
    enum error error = OK;
    CHECK(item);
    for (uint32_t i = 0; i < idx->count && error == OK; i++) {
        error = idx_next(idx, item, problem);
        CHECK(error != OK || idx->at == i + 1);
    }
    free(item);
    return error == OK ? idx_end(idx, problem) : error;
}

/* The first byte decides whether the file is plain or a gzip stream. */
void fuzz_one(const uint8_t *data, size_t bytes)
{
    struct input input = {data, bytes};
    struct problem problem = {""};
    struct idx idx;
    if (input_byte(&input) & 1)
        file_put_packed(&file, input.at, input.left);
    else
        file_put(&file, input.at, input.left);
    enum error error = idx_open_file(&idx, file.path, &problem);
    if (error == OK) {
        CHECK(shape_size(idx.shape) > 0);
        error = read_all(&idx, &problem);
        idx_close(&idx);
    }
    CHECK((error == OK) == (problem.text[0] == 0));
}
