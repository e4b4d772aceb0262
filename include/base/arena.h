/* Memory given once at birth.
 *
 * A room asks for everything it will ever need while it is being built and gives it all back at
 * once. The pages are zero and cost nothing until they are touched, so a generous bound is free.
 * Where there is no bound, because a user's model is what it is for, an arena grows by pieces: a
 * bound that is always enough is more address space than a system without overcommitment gives.
 */
#ifndef HEARSAY_BASE_ARENA_H
#define HEARSAY_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

struct arena {
    unsigned char *start; /* of the newest piece */
    size_t size_bytes;    /* of that piece */
    size_t used_bytes;    /* of that piece */
    bool grows;           /* by another piece, when this one is full */
};

/* Reserve size_bytes of address space. Ends the program when the system has none (memory.h). */
void arena_init(struct arena *arena, size_t size_bytes);

/* Hand out size_bytes of zeroed memory that is the caller's, aligned to 64 bytes: it is never
 * released by the arena. */
void arena_init_in(struct arena *arena, void *memory, size_t size_bytes);

/* Reserve what is asked for when it is asked for. Ends the program when the system has none. */
void arena_init_growing(struct arena *arena);

/* Zeroed memory for count items, aligned to 64 bytes, the arena's. Aborts beyond its size, unless
 * it grows. */
void *arena_take(struct arena *arena, size_t count, size_t item_bytes);

/* Give everything back; every pointer taken is dead. Not after arena_init_in. */
void arena_release(struct arena *arena);

#endif
