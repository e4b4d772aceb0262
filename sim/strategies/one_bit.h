/* A vector compressed to one bit an entry and two values (Seide, Fu, Droppo, Li, Yu 2014, "1-bit
 * stochastic gradient descent and its application to data-parallel distributed training of speech
 * DNNs", Interspeech).
 *
 *   v = values + error
 *   sent = mean of the nonnegative entries of v where v is nonnegative, else mean of the rest of v
 *   error = v − sent                     which is added to the next values
 *
 * Tests: tests/unit/sim/test_onebit.c.
 */
#ifndef HEARSAY_SIM_STRATEGIES_ONE_BIT_H
#define HEARSAY_SIM_STRATEGIES_ONE_BIT_H

#include <stddef.h>
#include <stdint.h>

/* Replaces values[count] by the message, and updates error[count]. Requires count > 0. */
void one_bit_compress(float *values, float *error, size_t count);

/* Returns the size in bits of a message of `count` entries, with its two float32 values. */
uint64_t one_bit_bits(size_t count);

#endif
