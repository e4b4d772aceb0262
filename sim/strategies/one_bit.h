/* A vector said with one bit an entry and two values (Seide, Fu, Droppo, Li, Yu 2014, "1-bit
 * stochastic gradient descent and its application to data-parallel distributed training of speech
 * DNNs", Interspeech).
 *
 *   v = values + error
 *   said = mean of the entries of v at or above 0, where v is; else the mean of those below
 *   error = v − said                     which is added the next time
 *
 * Held by tests/unit/sim/test_onebit.c.
 */
#ifndef HEARSAY_SIM_STRATEGIES_ONE_BIT_H
#define HEARSAY_SIM_STRATEGIES_ONE_BIT_H

#include <stddef.h>
#include <stdint.h>

/* values[count] becomes what is said; count > 0. */
void one_bit_say(float *values, float *error, size_t count);

/* Bits of so many entries and their two values in float32. */
uint64_t one_bit_bits(size_t count);

#endif
