/* The messages of SparseLoCo (Sarfi et al. 2025, arXiv 2508.15706): few entries of two bits each,
 * with error feedback.
 *
 *   e = decay·e + progress               error feedback of a node
 *   q = two_bits(keep_largest(e))        its message
 *   e = e − q
 *
 * The flat vector is cut into chunks of 4,096 entries, the last one shorter. Of a chunk of c
 * entries the k = max(1, round(part·c)) largest by magnitude are kept. An entry takes 12 bits for
 * its index in the chunk and 2 for its value:
 *
 *   B = ⌈14/8 · sum of k over all chunks⌉ bytes
 *
 * The four values of a chunk are not counted, in this method's favour. The published code has
 * chunks of 64 by 64 in each matrix, and four values for each tensor; its buckets are the same.
 * Tests: tests/unit/sim/test_sparse.c.
 */
#ifndef HEARSAY_SIM_STRATEGIES_SPARSE_H
#define HEARSAY_SIM_STRATEGIES_SPARSE_H

#include "strategies/common.h"

#define SPARSE_CHUNK      4096
#define SPARSE_ENTRY_BITS 14

/* Returns how many entries of a chunk of `count` are kept. part: fraction to keep. */
uint32_t sparse_kept(uint32_t count, double part);

/* Sets all except the `kept` largest of values[count] by magnitude to 0; of equal values, keeps the
 * first. Requires 0 < kept <= count <= SPARSE_CHUNK. */
void sparse_keep_largest(float *values, uint32_t count, uint32_t kept);

/* Rounds each nonzero entry of a chunk to the mean of its bucket. The four buckets are 1.5 standard
 * deviations wide; the third one is centred on the mean, and the outer ones are open. */
void sparse_two_bits(float *values, uint32_t count);

/* Uses the scenario's top_part and error_decay. */
extern const struct compressor sparse_compressor;

#endif
