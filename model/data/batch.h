/* The order of the samples: a new shuffle of the shard in each epoch, determined by (seed, epoch,
 * node).
 *
 *   (seed, epoch, node) ─► order[count] ─► batch_next: where the next `size` samples begin
 *
 * Sample i of an image set is at place i. Sequences are windows of `stride` tokens of one long
 * text, end to end: sample i is at first + stride·i, where `first` is drawn for each epoch, so that
 * windows are not cut at the same places twice.
 *
 * Every sample of the shard comes once per epoch, whatever the batch size; a batch may span two
 * epochs. Epoch, place and seed are the whole state: a checkpoint needs nothing else.
 * Held by tests/unit/model/test_batch.c.
 */
#ifndef HEARSAY_MODEL_DATA_BATCH_H
#define HEARSAY_MODEL_DATA_BATCH_H

#include <stdint.h>

#include "base/arena.h"
#include "base/rng.h"

struct batch {
    uint32_t *order; /* [count] order of the samples in this epoch */
    uint32_t count;  /* samples of the shard */
    uint32_t stride; /* positions from one sample to the next; 1 = samples are numbered */
    uint32_t first;  /* position of this epoch's first sample, below stride */
    uint32_t at;     /* index of the next sample in the order */
    uint64_t epoch;  /* from 0 */
    uint64_t seed;   /* seed of the order */
    uint64_t node;   /* stream of the seed: nodes with the same shard see different orders */
};

void batch_init(struct batch *batch, struct arena *arena, uint32_t count, uint32_t stride,
                uint64_t seed, uint64_t node);

/* Writes the positions of the next `size` samples to pick[size]. */
void batch_next(struct batch *batch, uint32_t size, uint32_t *pick);

/* Sets epoch and position to those of another batch with equal count, seed and node. A position
 * beyond the shard (which may have become smaller) counts as its end: the next epoch follows. */
void batch_seek(struct batch *batch, uint64_t epoch, uint32_t at);

/* Writes the numbers 0 .. count-1 in a random order (Fisher, Yates; Durstenfeld 1964), determined
 * by rng. */
void batch_shuffle(uint32_t *order, uint32_t count, struct rng rng);

#endif
