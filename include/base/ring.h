/* A lock-free ring buffer of records: one thread writes, another one reads.
 *
 *   writer ──► │····[size|bytes][size|bytes]····│ ──► reader
 *                   ▲ tail                  ▲ head     (both only count up)
 *
 * Each thread changes only its own counter, with release order, and reads the other counter with
 * acquire order (Lamport 1977). A record is contiguous in memory: if the space before the end of
 * the buffer is too small for it, that space is skipped.
 * Tests: tests/unit/base/test_ring.c, also under ThreadSanitizer.
 */
#ifndef HEARSAY_BASE_RING_H
#define HEARSAY_BASE_RING_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

struct ring {
    uint8_t *bytes;                     /* [size] memory of the ring, in the arena */
    uint64_t size;                      /* size of the ring in bytes; a power of two */
    _Alignas(64) _Atomic uint64_t head; /* number of bytes that the writer has written so far */
    _Alignas(64) _Atomic uint64_t tail; /* number of bytes that the reader has read so far */
};

/* Returns size_bytes rounded up to a power of two. */
uint64_t ring_bytes(uint64_t size_bytes);

/* Creates a ring of size_bytes bytes, rounded up to a power of two. A record may take up to half of
 * it. */
void ring_init(struct ring *ring, struct arena *arena, uint64_t size_bytes);

/* Called by the writer: returns space for a record of `bytes` bytes (aligned to 8 bytes), or
 * NULL if the ring is full. Fill the space, then call ring_put with the same number of bytes. */
void *ring_room(struct ring *ring, uint32_t bytes);
void ring_put(struct ring *ring, uint32_t bytes);

/* Called by the reader: returns the oldest record, or NULL if the ring is empty. Call ring_done
 * when the record is no longer used. */
const void *ring_peek(struct ring *ring);
void ring_done(struct ring *ring);

#endif
