#include "data/sequences.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/min_max.h"
#include "data/dataset.h"
#include "data/file_list.h"
#include "data/token_file.h"

#define BLOCK_BYTES ((size_t)64 * 1024)
#define BYTE_VALUES 256

/* Files of a list, whose tokens are concatenated to one run. */
struct files {
    struct file_list list;
    const char *key;  /* configuration key that named the files */
    bool is_text;     /* each byte of the files is a token */
    uint64_t *counts; /* [list.count] number of tokens in each file */
    uint64_t total;
    int token_bytes; /* bytes per token; equal in all files */
};

/* The tokens of the run that go into the dataset: indices from .. to-1. */
struct range {
    uint64_t from;
    uint64_t to;
    unsigned char *tokens; /* [to - from] buffer for the tokens, token_bytes each */
    /* highest token of the whole run, also outside the range; 0 and unused for text */
    uint32_t highest;
};

static const char *key_of(const struct dataset_options *options)
{
    return options->source == DATASET_TEXT ? "data.text" : "data.tokens";
}

static bool has_valid(const struct dataset_options *options)
{
    return options->valid && options->valid[0];
}

/* Sets files->list and key to the training files, or to the test files if train is false. These are
 * the same files if no test files are configured. MISMATCH: a file is in both lists. */
static enum error list_files(struct files *files, const struct dataset_options *options, bool train,
                             struct problem *problem)
{
    struct file_list other;
    files->is_text = options->source == DATASET_TEXT;
    files->key = key_of(options);
    enum error error = file_list_read(&files->list, options->files, files->key, problem);
    if (error != OK || !has_valid(options))
        return error;
    error = file_list_read(&other, options->valid, "data.valid", problem);
    if (error != OK)
        return error;
    error = file_list_apart(&files->list, &other, "data.valid", problem);
    if (error == OK && !train) {
        const struct file_list learned = files->list;
        files->list = other;
        files->key = "data.valid";
        other = learned;
    }
    file_list_free(&other);
    return error;
}

static enum error count_file(struct files *files, size_t i, struct problem *problem)
{
    struct token_file file;
    enum error error = token_file_open(&file, files->list.path[i], files->is_text, problem);
    if (error != OK)
        return error;
    error = token_file_count(&file, &files->counts[i], problem);
    if (error == OK && i > 0 && file.token_bytes != files->token_bytes)
        error = problem_set(problem, MISMATCH,
                            "%.200s: has tokens of %d bytes, and %.200s of %d; name files of one "
                            "format",
                            file.path, file.token_bytes, files->list.path[0], files->token_bytes);
    files->token_bytes = file.token_bytes;
    token_file_close(&file);
    files->total += error == OK ? files->counts[i] : 0;
    return error;
}

static enum error count_files(struct files *files, struct problem *problem)
{
    enum error error = OK;
    files->counts = calloc(files->list.count, sizeof *files->counts);
    CHECK(files->counts);
    for (size_t i = 0; i < files->list.count && error == OK; i++)
        error = count_file(files, i, problem);
    return error;
}

static uint32_t highest_of(const void *tokens, size_t count, int token_bytes)
{
    uint32_t highest = 0;
    if (token_bytes == 2)
        for (size_t i = 0; i < count; i++) {
            const uint32_t token = ((const uint16_t *)tokens)[i];
            highest = u32_max(token, highest);
        }
    if (token_bytes == 4)
        for (size_t i = 0; i < count; i++) {
            const uint32_t token = ((const uint32_t *)tokens)[i];
            highest = u32_max(token, highest);
        }
    return highest;
}

/* Copies the tokens of block[count] that are in the range to range->tokens. at: index in the run of
 * the block's first token. */
static void keep(struct range *range, const unsigned char *block, uint64_t at, size_t count,
                 size_t token_bytes)
{
    const uint64_t from = u64_max(at, range->from);
    const uint64_t end = at + count, to = u64_min(end, range->to);
    if (from < to)
        memcpy(range->tokens + (from - range->from) * token_bytes,
               block + (from - at) * token_bytes, (to - from) * token_bytes);
}

static enum error read_blocks(struct token_file *file, uint64_t at, uint64_t count,
                              struct range *range, struct problem *problem)
{
    _Alignas(uint32_t) unsigned char block[BLOCK_BYTES];
    const size_t token_bytes = (size_t)file->token_bytes, most = BLOCK_BYTES / token_bytes;
    while (count > 0 && (token_bytes > 1 || at < range->to)) {
        const size_t now = count < most ? (size_t)count : most;
        const enum error error = token_file_read(file, block, now, problem);
        if (error != OK)
            return error;
        const uint32_t highest = highest_of(block, now, file->token_bytes);
        range->highest = u32_max(highest, range->highest);
        keep(range, block, at, now, token_bytes);
        at += now;
        count -= now;
    }
    return OK;
}

/* Copies the range's tokens to range->tokens. Reads the whole run for its highest token, so that
 * all shards find the same number of classes. Of a text it reads only the files that have tokens of
 * the range, up to the range's end. */
static enum error read_files(const struct files *files, struct range *range,
                             struct problem *problem)
{
    enum error error = OK;
    uint64_t at = 0;
    for (size_t i = 0; i < files->list.count && error == OK; i++) {
        struct token_file file;
        const bool is_apart = at >= range->to || at + files->counts[i] <= range->from;
        if (!(files->is_text && is_apart)) {
            error = token_file_open(&file, files->list.path[i], files->is_text, problem);
            if (error != OK)
                return error;
            if (file.token_bytes == files->token_bytes)
                error = read_blocks(&file, at, files->counts[i], range, problem);
            else
                error = problem_set(problem, MALFORMED,
                                    "%.300s: changed while it was read; wait until it is written",
                                    file.path);
            token_file_close(&file);
        }
        at += files->counts[i];
    }
    return error;
}

uint32_t sequences_windows(size_t tokens, int context)
{
    CHECK(context > 0 && tokens <= UINT32_MAX);
    const size_t whole = tokens / (size_t)context;
    return whole > 0 ? (uint32_t)(whole - 1) : 0;
}

/* Returns count * part / parts without overflow. */
static uint64_t part_of(uint64_t count, uint64_t part, uint64_t parts)
{
    CHECK(part <= parts);
    return count / parts * part + count % parts * part / parts;
}

/* Returns the range of the run's tokens for this training shard, or for the test set if train is
 * false; `tokens` is not set. */
static struct range range_of(const struct files *files, const struct dataset_options *options,
                             bool train)
{
    const uint64_t total = files->total, end = has_valid(options) ? total : part_of(total, 9, 10);
    if (!train)
        return (struct range){.from = has_valid(options) ? 0 : end, .to = total};
    CHECK(options->shard < options->shards);
    return (struct range){.from = part_of(end, options->shard, options->shards),
                          .to = part_of(end, options->shard + 1ull, options->shards)};
}

static enum error too_few(const struct files *files, const char *whose, uint64_t count,
                          uint32_t context, uint32_t needed, const char *remedy,
                          struct problem *problem)
{
    return problem_set(problem, MISMATCH,
                       "%s: %s %" PRIu64
                       " tokens, and with a context of %u at least %u are needed; "
                       "use %sa smaller data.context, or more tokens",
                       files->key, whose, count, context, needed, remedy);
}

static enum error check_count(const struct files *files, const struct range *range,
                              const struct dataset_options *options, bool train,
                              struct problem *problem)
{
    const uint64_t count = range->to - range->from;
    char whose[64] = "the test has";
    if (train)
        (void)snprintf(whose, sizeof whose, "shard %u of %u has", options->shard + 1,
                       options->shards);
    if (count > UINT32_MAX)
        return problem_set(problem, TOO_BIG,
                           "%s: %s %" PRIu64 " tokens, and %u can be used at most; cut them into "
                           "more shards, or name fewer files",
                           files->key, whose, count, UINT32_MAX);
    if (train && count < 2 * options->context)
        return too_few(files, whose, count, options->context, 2 * options->context,
                       "fewer shards, ", problem);
    if (!train && count <= options->context)
        return too_few(files, whose, count, options->context, options->context + 1,
                       has_valid(options) ? "" : "files of their own (data.valid), ", problem);
    return OK;
}

static enum error read_range(struct dataset *dataset, const struct files *files,
                             struct range *range, struct problem *problem)
{
    const size_t count = (size_t)(range->to - range->from);
    range->tokens = malloc(count * (size_t)files->token_bytes);
    if (!range->tokens)
        return problem_set(problem, FAILED,
                           "%s: no memory left for %zu tokens of %d bytes; use more shards or a "
                           "larger machine",
                           files->key, count, files->token_bytes);
    dataset->tokens = range->tokens;
    dataset->tokens_count = count;
    dataset->token_bytes = files->token_bytes;
    const enum error error = read_files(files, range, problem);
    if (error == OK && range->highest >= DATASET_TOKENS_MAX)
        return problem_set(
            problem, TOO_BIG,
            "%s: its highest token is %u, and %u is the highest that can be learned; "
            "name files of tokens",
            files->key, range->highest, DATASET_TOKENS_MAX - 1);
    return error;
}

static enum error load(struct dataset *dataset, struct files *files,
                       const struct dataset_options *options, bool train, struct problem *problem)
{
    enum error error = list_files(files, options, train, problem);
    if (error == OK)
        error = count_files(files, problem);
    if (error != OK)
        return error;
    struct range range = range_of(files, options, train);
    error = check_count(files, &range, options, train, problem);
    if (error == OK)
        error = read_range(dataset, files, &range, problem);
    if (error != OK)
        return error;
    const int context = (int)options->context;
    dataset->shape = (struct shape){1, 1, 1, context};
    dataset->count = train ? sequences_windows(dataset->tokens_count, context)
                           : (uint32_t)((dataset->tokens_count - 1) / (size_t)context);
    dataset->classes = (int)range.highest + 1;
    if (files->is_text)
        dataset->classes = BYTE_VALUES;
    else if (dataset->classes < 2)
        dataset->classes = 2;
    dataset->mean = 0;
    dataset->scale = 1;
    return OK;
}

enum error sequences_load(struct dataset *dataset, const struct dataset_options *options,
                          bool train, struct problem *problem)
{
    struct files files = {0};
    struct dataset loaded = {0};
    CHECK(options->files && options->context >= DATASET_CONTEXT_MIN &&
          options->context <= DATASET_CONTEXT_MAX);
    const enum error error = load(&loaded, &files, options, train, problem);
    free(files.counts);
    file_list_free(&files.list);
    if (error == OK)
        *dataset = loaded;
    else
        dataset_free(&loaded);
    return error;
}
