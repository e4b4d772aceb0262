/* How often each byte value occurs, and from it mean and deviation of pixels. Integers, so that
 * neither depends on the order of the pixels or on the machine. */
#ifndef HEARSAY_MODEL_DATA_TALLY_H
#define HEARSAY_MODEL_DATA_TALLY_H

#include <stddef.h>
#include <stdint.h>

#include "data/dataset.h"

struct tally {
    uint64_t of[256]; /* zeroed at first */
};

void tally_add(struct tally *tally, const uint8_t *pixels, size_t count);

/* Sets mean and scale of the dataset; at least one pixel was added. */
void tally_normalise(const struct tally *tally, struct dataset *dataset);

#endif
