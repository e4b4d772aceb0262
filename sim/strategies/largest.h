/* The largest entries of a vector by magnitude. Tests: tests/unit/sim/test_sparse.c and test_dgc.c.
 */
#ifndef HEARSAY_SIM_STRATEGIES_LARGEST_H
#define HEARSAY_SIM_STRATEGIES_LARGEST_H

#include <stddef.h>
#include <stdint.h>

/* Sets all entries of values[count] to 0, except the `kept` largest by magnitude; of equal entries,
 * keeps the first ones. Requires 0 < kept <= count < UINT32_MAX. keys[count]: scratch buffer. */
void largest_keep(float *values, size_t count, size_t kept, uint64_t *keys);

#endif
