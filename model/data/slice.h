/* Which samples are a shard's: a permutation by seed, cut into slices whose sizes differ by at most
 * one. Held by tests/unit/model/test_dataset.c. */
#ifndef HEARSAY_MODEL_DATA_SLICE_H
#define HEARSAY_MODEL_DATA_SLICE_H

#include <stdint.h>

#include "base/error.h"
#include "data/dataset.h"

struct slice_of_samples {
    uint8_t *keep; /* [count], 1: ours; the owner's to free */
    uint32_t kept; /* how many are */
};

/* Cuts `samples` samples by options->shard and ->shards. MISMATCH: no such shard, or too many
 * shards. */
enum error slice_check(const struct dataset_options *options, uint32_t count,
                       struct problem *problem) MUST_USE;

/* The same, and the samples. FAILED: no memory. */
enum error slice_new(struct slice_of_samples *slice, const struct dataset_options *options,
                     uint32_t count, struct problem *problem) MUST_USE;

#endif
