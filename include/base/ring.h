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
    uint8_t *bytes;                     /* [size] in the arena */
    uint64_t size;                      /* size in bytes; a power of two */
    _Alignas(64) _Atomic uint64_t head; /* bytes written or skipped so far */
    _Alignas(64) _Atomic uint64_t tail; /* bytes read or skipped so far */
};

/* Returns size_bytes rounded up to a power of two, at least 64. */
uint64_t ring_bytes(uint64_t size_bytes);

/* The ring has ring_bytes(size_bytes) bytes. A record with its 8-byte head may take at most half of
 * them. */
void ring_init(struct ring *ring, struct arena *arena, uint64_t size_bytes);

/* Called by the writer: returns space for a record, aligned to 8 bytes, or NULL if the ring has
 * too little. Fill the space, then call ring_put with the same number of bytes. */
void *ring_room(struct ring *ring, uint32_t bytes);
void ring_put(struct ring *ring, uint32_t bytes);

/* Called by the reader: returns the oldest record, or NULL if the ring is empty. Call ring_done
 * when the record is no longer used. */
const void *ring_peek(struct ring *ring);
void ring_done(struct ring *ring);

#endif
