#include "node/broadcast/decoded.h"

#include "base/error.h"

size_t decoded_arena_bytes(uint32_t entries_max)
{
    return entries_max * (sizeof(uint32_t) + sizeof(int8_t)) + (size_t)2 * 64;
}

void decoded_init(struct decoded *decoded, struct arena *arena, uint32_t entries_max)
{
    *decoded = (struct decoded){
        .index = arena_alloc(arena, entries_max, sizeof *decoded->index),
        .level = arena_alloc(arena, entries_max, sizeof *decoded->level),
        .entries_max = entries_max,
    };
}

struct update *decoded_room(struct decoded *decoded, uint32_t entries)
{
    CHECK(entries <= decoded->entries_max);
    if (decoded->first == decoded->end || decoded->end == DECODED_MAX ||
        entries > decoded->entries_max - decoded->entries)
        decoded->first = decoded->end = decoded->entries = 0;
    struct update *update = &decoded->updates[decoded->end];
    update->index = decoded->index + decoded->entries;
    update->level = decoded->level + decoded->entries;
    return update;
}

void decoded_keep(struct decoded *decoded, uint64_t position)
{
    CHECK(decoded->end < DECODED_MAX);
    decoded->entries += decoded->updates[decoded->end].count;
    CHECK(decoded->entries <= decoded->entries_max);
    CHECK(decoded->end == 0 || decoded->positions[decoded->end - 1] < position);
    decoded->positions[decoded->end++] = position;
}

const struct update *decoded_at(struct decoded *decoded, uint64_t position)
{
    CHECK(decoded->first <= decoded->end && decoded->end <= DECODED_MAX);
    while (decoded->first < decoded->end && decoded->positions[decoded->first] < position)
        decoded->first++;
    if (decoded->first == decoded->end || decoded->positions[decoded->first] != position)
        return NULL;
    return &decoded->updates[decoded->first++];
}
