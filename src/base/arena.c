#include "base/arena.h"

#include <sys/mman.h>

#include "base/error.h"

void arena_init(struct arena *arena, size_t size_bytes)
{
    void *start = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(start != MAP_FAILED);
    *arena = (struct arena){.start = start, .size_bytes = size_bytes};
}

void *arena_take(struct arena *arena, size_t count, size_t item_bytes)
{
    CHECK(item_bytes == 0 || count <= (size_t)-64 / item_bytes);
    size_t bytes = (count * item_bytes + 63) & ~(size_t)63;
    CHECK(bytes <= arena->size_bytes - arena->used_bytes);
    void *taken = arena->start + arena->used_bytes;
    arena->used_bytes += bytes;
    return taken;
}

void arena_release(struct arena *arena)
{
    if (arena->start)
        (void)munmap(arena->start, arena->size_bytes);
    *arena = (struct arena){0};
}
