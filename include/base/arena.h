/* Memory given once at birth.
 *
 * A room asks for everything it will ever need while it is being built and gives it all back at
 * once. The pages are zero and cost nothing until they are touched, so a generous bound is free.
 */
#ifndef HEARSAY_BASE_ARENA_H
#define HEARSAY_BASE_ARENA_H

#include <stddef.h>

struct arena {
    unsigned char *start;
    size_t size_bytes;
    size_t used_bytes;
};

/* Reserve size_bytes of address space. Aborts when the system has none. */
void arena_init(struct arena *arena, size_t size_bytes);

/* Zeroed memory for count items, aligned to 64 bytes, the arena's. Aborts beyond its size. */
void *arena_take(struct arena *arena, size_t count, size_t item_bytes);

/* Give everything back; every pointer taken is dead. */
void arena_release(struct arena *arena);

#endif
