/* The samples of a shard: all samples in a random order by seed, cut into slices whose sizes differ
 * by at most one. Tests: tests/unit/model/test_dataset.c. */
#ifndef HEARSAY_MODEL_DATA_SLICE_H
#define HEARSAY_MODEL_DATA_SLICE_H

#include <stdint.h>

#include "base/error.h"
#include "data/dataset.h"

struct slice_of_samples {
    /* [count] 1 = the sample is in the shard; to be freed by the caller of slice_new */
    uint8_t *keep;
    uint32_t kept;
};

/* Checks that shard options->shard of options->shards exists and that `count` samples suffice.
 * MISMATCH: shard >= shards, or shards > count. */
enum error slice_check(const struct dataset_options *options, uint32_t count,
                       struct problem *problem) MUST_USE;

/* Selects the samples of shard options->shard among `count` samples. MISMATCH: as slice_check.
 * FAILED: no memory. */
enum error slice_new(struct slice_of_samples *slice, const struct dataset_options *options,
                     uint32_t count, struct problem *problem) MUST_USE;

#endif
