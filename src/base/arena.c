#include "base/arena.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "base/error.h"
#include "base/memory.h"

#define ALIGN       ((size_t)64)
#define PIECE_BYTES ((size_t)16 << 20) /* minimum size of a piece of a growing arena */

/* Header of a piece of a growing arena; links to the previous piece. */
struct before {
    unsigned char *start;
    size_t size_bytes;
};

_Static_assert(sizeof(struct before) <= ALIGN, "what is taken first stays aligned");

static unsigned char *reserve(size_t size_bytes)
{
    void *start = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED)
        memory_missing(size_bytes);
    return start;
}

void arena_init(struct arena *arena, size_t size_bytes)
{
    *arena = (struct arena){.start = reserve(size_bytes), .size_bytes = size_bytes};
}

void arena_init_in(struct arena *arena, void *memory, size_t size_bytes)
{
    CHECK(memory && (uintptr_t)memory % ALIGN == 0);
    *arena = (struct arena){.start = memory, .size_bytes = size_bytes};
}

void arena_init_growing(struct arena *arena)
{
    *arena = (struct arena){.grows = true};
}

static void grow(struct arena *arena, size_t bytes)
{
    CHECK(bytes <= SIZE_MAX - ALIGN);
    const struct before before = {.start = arena->start, .size_bytes = arena->size_bytes};
    arena->size_bytes = bytes + ALIGN > PIECE_BYTES ? bytes + ALIGN : PIECE_BYTES;
    arena->start = reserve(arena->size_bytes);
    arena->used_bytes = ALIGN;
    memcpy(arena->start, &before, sizeof before);
}

void *arena_alloc(struct arena *arena, size_t count, size_t item_bytes)
{
    CHECK(item_bytes == 0 || count <= ((size_t)-1 - ALIGN) / item_bytes);
    const size_t bytes = (count * item_bytes + ALIGN - 1) & ~(ALIGN - 1);
    if (arena->grows && bytes > arena->size_bytes - arena->used_bytes)
        grow(arena, bytes);
    CHECK(bytes <= arena->size_bytes - arena->used_bytes);
    void *taken = arena->start + arena->used_bytes;
    arena->used_bytes += bytes;
    return taken;
}

void arena_release(struct arena *arena)
{
    struct before piece = {.start = arena->start, .size_bytes = arena->size_bytes};
    while (piece.start) {
        const struct before whole = piece;
        if (arena->grows)
            memcpy(&piece, whole.start, sizeof piece);
        else
            piece.start = NULL;
        (void)munmap(whole.start, whole.size_bytes);
    }
    *arena = (struct arena){0};
}
