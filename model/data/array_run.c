#include "data/array_run.h"

#include <stdlib.h>
#include <string.h>

#include "base/min_max.h"

#define BLOCK_BYTES ((uint64_t)64 * 1024)

static uint64_t sample_bytes(const struct npy_file *file)
{
    return file->size * (uint64_t)file->bytes;
}

static bool are_alike(const struct npy_file *one, const struct npy_file *other)
{
    const size_t inner = (size_t)(one->rank - 1) * sizeof *one->dims;
    return one->kind == other->kind && one->bytes == other->bytes && one->rank == other->rank &&
           one->channels_last == other->channels_last &&
           memcmp(one->dims + 1, other->dims + 1, inner) == 0;
}

static enum error open_ordered(const struct array_run *run, struct npy_file *file, size_t i,
                               struct problem *problem)
{
    enum error error = npy_file_open(file, run->list.path[i], problem);
    if (error != OK)
        return error;
    error = npy_file_order(file, run->channels, problem);
    if (error != OK)
        npy_file_close(file);
    return error;
}

static enum error look_at(struct array_run *run, size_t i, struct problem *problem)
{
    struct npy_file file;
    enum error error = open_ordered(run, &file, i, problem);
    if (error != OK)
        return error;
    const uint64_t count = run->count + file.dims[0];
    if (i > 0 && !are_alike(&file, &run->like))
        error = problem_set(problem, MISMATCH,
                            "%.200s: its numbers are of another type, or its samples of another "
                            "shape, than those of %.200s; name files that are alike",
                            file.path, run->list.path[0]);
    else if (count > UINT32_MAX || file.dims[0] > UINT32_MAX)
        error =
            problem_set(problem, TOO_BIG, "%s: there are more than %u samples; name fewer files",
                        run->key, UINT32_MAX);
    else
        run->count = (uint32_t)count;
    if (error == OK && i == 0)
        run->like = file;
    npy_file_close(&file);
    run->like.fd = -1;
    return error;
}

enum error array_run_open(struct array_run *run, const char *text, const char *key,
                          enum npy_channels channels, struct problem *problem)
{
    struct array_run opened = {.key = key, .channels = channels};
    enum error error = file_list_read(&opened.list, text, key, problem);
    for (size_t i = 0; error == OK && i < opened.list.count; i++)
        error = look_at(&opened, i, problem);
    if (error == OK)
        *run = opened;
    else
        array_run_close(&opened);
    return error;
}

/* State of one call of array_run_read. */
struct pass {
    uint32_t from, to; /* samples to read: indices from .. to-1 in the run */
    uint32_t at;       /* index in the run of the current file's first sample */
    uint64_t most;     /* capacity of `block` in samples */
    void *block;
    enum error (*take)(void *context, const struct array_block *block, struct problem *problem);
    void *context;
};

static enum error changed(const char *what, struct problem *problem)
{
    return problem_set(problem, MALFORMED,
                       "%.300s: changed while it was read; wait until it is written", what);
}

/* Reads the samples of one file that lie in pass->from .. pass->to-1 and passes them to
 * pass->take. */
static enum error read_file(struct pass *pass, struct npy_file *file, struct problem *problem)
{
    const uint64_t end = pass->at + file->dims[0], to = u64_min(end, pass->to);
    enum error error = OK;
    if (pass->at < pass->from)
        error = npy_file_skip(file, pass->from - pass->at, problem);
    while (error == OK && pass->at + file->at < to) {
        const uint64_t left = to - pass->at - file->at, now = u64_min(left, pass->most);
        const struct array_block block = {.path = file->path,
                                          .data = pass->block,
                                          .at = pass->at + (uint32_t)file->at,
                                          .count = (uint32_t)now};
        error = npy_file_read(file, pass->block, now, problem);
        if (error == OK)
            error = pass->take(pass->context, &block, problem);
    }
    return error;
}

static enum error read_files(const struct array_run *run, struct pass *pass,
                             struct problem *problem)
{
    enum error error = OK;
    for (size_t i = 0; error == OK && i < run->list.count && pass->at < pass->to; i++) {
        struct npy_file file;
        error = open_ordered(run, &file, i, problem);
        if (error != OK)
            return error;
        const uint64_t count = file.dims[0];
        if (!are_alike(&file, &run->like) || count > run->count - pass->at)
            error = changed(file.path, problem);
        else if (pass->at + count > pass->from)
            error = read_file(pass, &file, problem);
        npy_file_close(&file);
        pass->at += (uint32_t)count;
    }
    return error == OK && pass->at < pass->to ? changed(run->key, problem) : error;
}

enum error array_run_read(const struct array_run *run, uint32_t from, uint32_t to,
                          enum error (*take)(void *context, const struct array_block *block,
                                             struct problem *problem),
                          void *context, struct problem *problem)
{
    const uint64_t each = sample_bytes(&run->like);
    CHECK(from <= to && to <= run->count);
    struct pass pass = {.from = from,
                        .to = to,
                        .most = each < BLOCK_BYTES ? BLOCK_BYTES / each : 1,
                        .take = take,
                        .context = context};
    pass.block = malloc(pass.most * each);
    if (!pass.block)
        return problem_set(problem, FAILED, "%s: no memory left for a sample of %llu bytes",
                           run->key, (unsigned long long)each);
    const enum error error = read_files(run, &pass, problem);
    free(pass.block);
    return error;
}

void array_run_close(struct array_run *run)
{
    file_list_free(&run->list);
}
