/* Which samples come next: a fresh shuffle of the shard each epoch, by (seed, epoch, node).
 *
 * Every sample of the shard is seen once per epoch, whatever the batch size; a batch may span
 * two epochs. Position and seed say everything: nothing else needs saving to go on later.
 * Held by tests/unit/model/test_batch.c.
 */
#ifndef HEARSAY_MODEL_DATA_BATCH_H
#define HEARSAY_MODEL_DATA_BATCH_H

#include <stdint.h>

#include "base/arena.h"
#include "base/rng.h"

struct batch {
    uint32_t *order; /* [count], this epoch's */
    uint32_t count;
    uint32_t at;
    uint64_t epoch;
    uint64_t seed;
    uint64_t node; /* which stream: two nodes with the same shard see it in different orders */
};

void batch_init(struct batch *batch, struct arena *arena, uint32_t count, uint64_t seed,
                uint64_t node);

/* The next `size` picks into pick[size]. */
void batch_next(struct batch *batch, uint32_t size, uint32_t *pick);

/* Go to where another batch of the same count, seed and node was (its epoch and at). A place beyond
 * the shard, which has become smaller since, is its end: the next epoch follows. */
void batch_seek(struct batch *batch, uint64_t epoch, uint32_t at);

/* The numbers 0 .. count-1 in a random order (Fisher, Yates; Durstenfeld 1964), by rng alone. */
void batch_shuffle(uint32_t *order, uint32_t count, struct rng rng);

#endif
