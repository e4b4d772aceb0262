/* A ring of records between two threads: one puts, the other takes. No locks.
 *
 *   writer ──► │····[size|bytes][size|bytes]····│ ──► reader
 *                   ▲ tail                  ▲ head     (both only count up)
 *
 * Each side owns one counter and reads the other's with acquire, publishes its own with release
 * (Lamport 1977). A record lies in one piece: what is left at the end is skipped when too small.
 * Held by tests/unit/base/test_ring.c, also under ThreadSanitizer.
 */
#ifndef HEARSAY_BASE_RING_H
#define HEARSAY_BASE_RING_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

struct ring {
    uint8_t *bytes;                     /* [size] memory of the ring, in the arena */
    uint64_t size;                      /* bytes of the ring; a power of two */
    _Alignas(64) _Atomic uint64_t head; /* bytes written so far, by the writer */
    _Alignas(64) _Atomic uint64_t tail; /* bytes read so far, by the reader */
};

/* Returns size_bytes rounded up to a power of two. */
uint64_t ring_bytes(uint64_t size_bytes);

/* Creates a ring of about `bytes` bytes; a record may take up to half of it. */
void ring_init(struct ring *ring, struct arena *arena, uint64_t size_bytes);

/* Writer: returns space for a record of `bytes` bytes (8-byte aligned), or NULL if the ring is
 * full. Fill it, then call ring_put with the same number. */
void *ring_room(struct ring *ring, uint32_t bytes);
void ring_put(struct ring *ring, uint32_t bytes);

/* Reader: returns the oldest record, or NULL if the ring is empty. Call ring_done after use. */
const void *ring_peek(struct ring *ring);
void ring_done(struct ring *ring);

#endif
