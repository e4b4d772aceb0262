/* The order of the samples: a new shuffle of the shard in each epoch, determined by (seed, epoch,
 * node).
 *
 *   (seed, epoch, node) ─► order[count] ─► batch_next: where the next `size` samples begin
 *
 * The position of a sample in a data set of images is its index i. Sequences are windows of
 * `stride` tokens of one long text, without gaps: sample i begins at position first + stride·i.
 * `first` is drawn for each epoch, so that windows are cut at different positions.
 *
 * Every sample of the shard comes once per epoch, whatever the batch size; a batch may span
 * epochs. A checkpoint needs only epoch, index in the order, seed and node.
 * Tests: tests/unit/model/test_batch.c.
 */
#ifndef HEARSAY_MODEL_DATA_BATCH_H
#define HEARSAY_MODEL_DATA_BATCH_H

#include <stdint.h>

#include "base/arena.h"
#include "base/rng.h"

struct batch {
    uint32_t *order; /* [count] shuffled sample indices of this epoch */
    uint32_t count;  /* samples in the shard */
    uint32_t stride; /* distance between the positions of two samples: 1, or a window's tokens */
    uint32_t first;  /* position of sample 0 in this epoch, 0 .. stride-1 */
    uint32_t at;     /* index in `order` of the next sample; count = the epoch is over */
    uint64_t epoch;  /* number of this epoch, from 0 */
    uint64_t seed;
    uint64_t node; /* node number: nodes with one shard and one seed get different orders */
};

void batch_init(struct batch *batch, struct arena *arena, uint32_t count, uint32_t stride,
                uint64_t seed, uint64_t node);

/* Writes the positions of the next `size` samples to pick[size] and advances past them. Starts new
 * epochs as needed. */
void batch_next(struct batch *batch, uint32_t size, uint32_t *pick);

/* Continues at sample `at` of this epoch, as saved from a batch with equal seed and node. If the
 * shard is now smaller than `at`, the next sample is the first of the next epoch. */
void batch_seek(struct batch *batch, uint64_t epoch, uint32_t at);

/* Fills order[count] with a random permutation of 0 .. count-1, determined by rng (Fisher and
 * Yates; Durstenfeld 1964). */
void batch_shuffle(uint32_t *order, uint32_t count, struct rng rng);

#endif
