/* Messages of four bits an entry, a sign and three bits of exponent (E3M0), as in Streaming DiLoCo
 * (Douillard et al. 2025, arXiv 2501.18512).
 *
 * The vector is cut into chunks of 4,096 entries, the last one shorter. With the largest magnitude
 * m of a chunk, each entry becomes the nearest of 0, ±m, ±m/2, … ±m/64. In this method's favour,
 * neither m nor the wider entries of sums are counted:
 *
 *   B = ⌈P/2⌉ bytes
 *
 * Tests: tests/unit/sim/test_streaming.c.
 */
#ifndef HEARSAY_SIM_STRATEGIES_E3M0_H
#define HEARSAY_SIM_STRATEGIES_E3M0_H

#include "strategies/common.h"

#define E3M0_CHUNK 4096

/* Rounds values[count] to four bits each, as one chunk. */
void e3m0_round(float *values, size_t count);

extern const struct compressor e3m0_compressor;

#endif
