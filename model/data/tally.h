/* Counts byte values, and computes mean and deviation of pixels from the counts. The counts are
 * integers, so the result depends neither on the order of the pixels nor on the machine. */
#ifndef HEARSAY_MODEL_DATA_TALLY_H
#define HEARSAY_MODEL_DATA_TALLY_H

#include <stddef.h>
#include <stdint.h>

#include "data/dataset.h"

struct tally {
    uint64_t of[256]; /* number of bytes with each value; the caller zeroes it */
};

void tally_add(struct tally *tally, const uint8_t *pixels, size_t count);

/* Sets mean, scale, input_mean and input_deviation of the dataset from the counts. At least one
 * byte must have been counted. */
void tally_normalise(const struct tally *tally, struct dataset *dataset);

#endif
