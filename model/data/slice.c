#include "data/slice.h"

#include <stdlib.h>

#include "base/rng.h"
#include "data/batch.h"

enum error slice_check(const struct dataset_options *options, uint32_t count,
                       struct problem *problem)
{
    if (options->shard >= options->shards)
        return problem_set(problem, MISMATCH,
                           "there is no shard %u among %u; number the shards from 0",
                           options->shard, options->shards);
    if (options->shards > count)
        return problem_set(problem, MISMATCH,
                           "%u samples cannot be cut into %u shards; use at most %u", count,
                           options->shards, count);
    return OK;
}

enum error slice_new(struct slice_of_samples *slice, const struct dataset_options *options,
                     uint32_t count, struct problem *problem)
{
    enum error error = slice_check(options, count, problem);
    if (error != OK)
        return error;
    uint32_t *order = malloc(count * sizeof *order);
    uint8_t *keep = calloc(count, 1);
    if (!order || !keep) {
        free(order);
        free(keep);
        return problem_set(problem, FAILED, "no memory left to cut %u samples into shards", count);
    }
    const uint32_t from = (uint32_t)((uint64_t)count * options->shard / options->shards);
    const uint32_t to = (uint32_t)((uint64_t)count * (options->shard + 1ull) / options->shards);
    batch_shuffle(order, count, rng_new(options->seed, UINT64_MAX));
    for (uint32_t i = from; i < to; i++)
        keep[order[i]] = 1;
    free(order);
    *slice = (struct slice_of_samples){.keep = keep, .kept = to - from};
    return OK;
}
