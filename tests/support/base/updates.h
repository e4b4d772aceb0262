/* Updates to try the codec with: drawn at a density, judged by their entropy, and damaged. */
#ifndef HEARSAY_TESTS_SUPPORT_BASE_UPDATES_H
#define HEARSAY_TESTS_SUPPORT_BASE_UPDATES_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/rng.h"
#include "base/update.h"

/* How the levels of an update fall out. */
enum levels { LAPLACE, ONES, UNIFORM, TWO_SIDES };

/* Draw `count` entries with geometric gaps; returns the parameters they are spread over. */
uint64_t draw_update(struct update *update, uint32_t count, double density, enum levels levels,
                     uint64_t seed);

/* Bits of the best code that knows only the density and the frequencies of the levels. */
double entropy_bits(const struct update *update, uint64_t parameters);

/* Checks a decoder's output: entries in order and within their limits. */
bool update_is_valid(const struct update *update, uint64_t parameters);

/* One to four changes: a bit, a byte, or a run of bytes. */
void mutate(struct rng *rng, uint8_t *bytes, size_t count);

#endif
