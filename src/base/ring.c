#include "base/ring.h"

#include "base/error.h"

#define HEAD_BYTES 8
/* Stored instead of a record's size if the next record is at the start of the buffer. */
#define SKIP UINT32_MAX

static uint64_t rounded(uint32_t bytes)
{
    return HEAD_BYTES + (((uint64_t)bytes + 7) & ~7ull);
}

uint64_t ring_bytes(uint64_t size_bytes)
{
    uint64_t size = 64;
    CHECK(size_bytes <= UINT64_MAX / 4);
    while (size < size_bytes)
        size *= 2;
    return size;
}

void ring_init(struct ring *ring, struct arena *arena, uint64_t size_bytes)
{
    ring->size = ring_bytes(size_bytes);
    ring->bytes = arena_alloc(arena, ring->size, 1);
    atomic_init(&ring->head, 0);
    atomic_init(&ring->tail, 0);
}

static uint32_t *size_at(const struct ring *ring, uint64_t at)
{
    return (uint32_t *)(void *)(ring->bytes + (at & (ring->size - 1)));
}

/* Returns the bytes to skip at the end of the buffer so that `need` bytes are contiguous. */
static uint64_t skip_for(const struct ring *ring, uint64_t head, uint64_t need)
{
    CHECK(need <= ring->size / 2);
    const uint64_t to_end = ring->size - (head & (ring->size - 1));
    return need <= to_end ? 0 : to_end;
}

void *ring_room(struct ring *ring, uint32_t bytes)
{
    const uint64_t need = rounded(bytes);
    const uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    const uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
    const uint64_t skip = skip_for(ring, head, need);
    if (ring->size - (head - tail) < skip + need)
        return NULL;
    return (uint8_t *)size_at(ring, head + skip) + HEAD_BYTES;
}

void ring_put(struct ring *ring, uint32_t bytes)
{
    const uint64_t need = rounded(bytes);
    const uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    const uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    const uint64_t skip = skip_for(ring, head, need);
    CHECK(skip + need <= ring->size - (head - tail));
    if (skip)
        *size_at(ring, head) = SKIP;
    *size_at(ring, head + skip) = bytes;
    atomic_store_explicit(&ring->head, head + skip + need, memory_order_release);
}

/* Returns the position of the next record: `tail`, or the start of the buffer if the writer skipped
 * its end. */
static uint64_t next_at(const struct ring *ring, uint64_t tail)
{
    return *size_at(ring, tail) == SKIP ? tail + ring->size - (tail & (ring->size - 1)) : tail;
}

const void *ring_peek(struct ring *ring)
{
    const uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    if (atomic_load_explicit(&ring->head, memory_order_acquire) == tail)
        return NULL;
    return (uint8_t *)size_at(ring, next_at(ring, tail)) + HEAD_BYTES;
}

void ring_done(struct ring *ring)
{
    uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    CHECK(tail != atomic_load_explicit(&ring->head, memory_order_relaxed));
    tail = next_at(ring, tail);
    tail += rounded(*size_at(ring, tail));
    atomic_store_explicit(&ring->tail, tail, memory_order_release);
}
