/* An arena: reserved memory that is released as a whole. A module allocates from its arena only
 * while the module is created. Pages are zero and use no memory until they are touched, so a
 * generous size costs nothing. If the size depends on a user's model, the arena grows piece by
 * piece instead: reserving the largest possible size would fail on systems without
 * overcommitment. */
#ifndef HEARSAY_BASE_ARENA_H
#define HEARSAY_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

struct arena {
    unsigned char *start; /* newest piece of memory; the only piece unless the arena grows */
    size_t size_bytes;    /* size of that piece */
    size_t used_bytes;    /* bytes in use of the newest piece */
    bool grows;           /* the arena adds another piece when the newest one is full */
};

/* Reserves size_bytes of address space. Ends the program if the system has none (memory.h). */
void arena_init(struct arena *arena, size_t size_bytes);

/* Uses zeroed memory of the caller, aligned to 64 bytes. The arena never frees it. */
void arena_init_in(struct arena *arena, void *memory, size_t size_bytes);

/* Creates an arena that reserves memory piece by piece, in arena_alloc, which ends the program if
 * the system has none left (memory.h). */
void arena_init_growing(struct arena *arena);

/* Returns zeroed memory for `count` items, aligned to 64 bytes; the arena owns it. Aborts if the
 * arena is full, unless the arena grows (arena_init_growing). */
void *arena_alloc(struct arena *arena, size_t count, size_t item_bytes);

/* Frees all memory of the arena. Must not be called after arena_init_in. */
void arena_release(struct arena *arena);

#endif
