/* Updates for tests of the codec: drawn at a density, measured by their entropy, and damaged. */
#ifndef HEARSAY_TESTS_SUPPORT_BASE_UPDATES_H
#define HEARSAY_TESTS_SUPPORT_BASE_UPDATES_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/rng.h"
#include "base/update.h"

/* Distributions of the levels of an update. */
enum levels { LAPLACE, ONES, UNIFORM, TWO_SIDES };

/* Draws `count` entries with geometric gaps. Returns the number of parameters that they span. */
uint64_t draw_update(struct update *update, uint32_t count, double density, enum levels levels,
                     uint64_t seed);

/* Returns the size in bits of an ideal code that only knows the density and the frequencies of the
 * levels. */
double entropy_bits(const struct update *update, uint64_t parameters);

/* Returns true for valid output of a decoder: ascending indices, and all values within their
 * limits. */
bool update_is_valid(const struct update *update, uint64_t parameters);

/* Damages the bytes one to four times: flips a bit, replaces a byte by a random one, or fills up to
 * eight bytes with 0 or 255. */
void mutate(struct rng *rng, uint8_t *bytes, size_t count);

#endif
