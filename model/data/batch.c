#include "data/batch.h"

#include "base/error.h"

void batch_shuffle(uint32_t *order, uint32_t count, struct rng rng)
{
    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    for (uint32_t left = count; left > 1; left--) {
        uint32_t pick = rng_below(&rng, left);
        uint32_t last = order[left - 1];
        order[left - 1] = order[pick];
        order[pick] = last;
    }
}

static void begin_epoch(struct batch *batch, uint64_t epoch)
{
    uint64_t seed = rng_mix(batch->seed ^ rng_mix(epoch + 1));
    batch_shuffle(batch->order, batch->count, rng_new(seed, batch->node));
    struct rng rng = rng_new(rng_mix(seed), batch->node);
    batch->first = batch->stride > 1 ? rng_below(&rng, batch->stride) : 0;
    batch->epoch = epoch;
    batch->at = 0;
}

void batch_init(struct batch *batch, struct arena *arena, uint32_t count, uint32_t stride,
                uint64_t seed, uint64_t node)
{
    CHECK(count > 0 && stride > 0 && count <= UINT32_MAX / stride);
    *batch = (struct batch){.count = count, .stride = stride, .seed = seed, .node = node};
    batch->order = arena_alloc(arena, count, sizeof *batch->order);
    begin_epoch(batch, 0);
}

void batch_next(struct batch *batch, uint32_t size, uint32_t *pick)
{
    for (uint32_t i = 0; i < size; i++) {
        if (batch->at == batch->count)
            begin_epoch(batch, batch->epoch + 1);
        pick[i] = batch->first + batch->stride * batch->order[batch->at++];
    }
}

void batch_seek(struct batch *batch, uint64_t epoch, uint32_t at)
{
    begin_epoch(batch, epoch);
    batch->at = at < batch->count ? at : batch->count;
}
