/* The largest entries of a vector by magnitude. Tests: tests/unit/sim/test_sparse.c and test_dgc.c.
 */
#ifndef HEARSAY_SIM_STRATEGIES_LARGEST_H
#define HEARSAY_SIM_STRATEGIES_LARGEST_H

#include <stddef.h>
#include <stdint.h>

/* Sets all entries of values[count] to 0, except the `kept` largest; of equal entries, it keeps the
 * first ones. Requires 0 < kept <= count < 2^32. keys[count] is a scratch buffer. */
void largest_keep(float *values, size_t count, size_t kept, uint64_t *keys);

#endif
