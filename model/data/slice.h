/* The samples of a shard: a permutation by seed, cut into slices whose sizes differ by at most one.
 * Held by tests/unit/model/test_dataset.c. */
#ifndef HEARSAY_MODEL_DATA_SLICE_H
#define HEARSAY_MODEL_DATA_SLICE_H

#include <stdint.h>

#include "base/error.h"
#include "data/dataset.h"

struct slice_of_samples {
    uint8_t *keep; /* [count] 1 = the sample is in the shard; the owner frees it */
    uint32_t kept; /* number of samples kept */
};

/* Checks that `count` samples can be cut by options->shard and ->shards. MISMATCH: there is no such
 * shard, or too many shards. */
enum error slice_check(const struct dataset_options *options, uint32_t count,
                       struct problem *problem) MUST_USE;

/* Checks it and selects the samples. FAILED: no memory. */
enum error slice_new(struct slice_of_samples *slice, const struct dataset_options *options,
                     uint32_t count, struct problem *problem) MUST_USE;

#endif
