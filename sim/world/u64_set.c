#include "world/u64_set.h"

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "base/error.h"

uint64_t u64_set_of(const void *bytes, size_t count)
{
    const uint8_t *at = bytes;
    uint64_t hash = count, word;
    for (; count >= 8; at += 8, count -= 8) {
        memcpy(&word, at, 8);
        hash = rng_mix(hash ^ word) + 1;
    }
    word = 0;
    memcpy(&word, at, count);
    hash = rng_mix(hash ^ word);
    return hash ? hash : 1;
}

/* The place of the mark, or the free one where it would go. */
static size_t place_of(const struct u64_set *u64_set, uint64_t mark)
{
    size_t at = (size_t)rng_mix(mark) & (u64_set->size - 1);
    while (u64_set->key[at] && u64_set->key[at] != mark)
        at = (at + 1) & (u64_set->size - 1);
    return at;
}

static void grow(struct u64_set *u64_set)
{
    struct u64_set old = *u64_set;
    u64_set->size = old.size ? 2 * old.size : 1024;
    u64_set->key = calloc(u64_set->size, sizeof *u64_set->key);
    u64_set->value = calloc(u64_set->size, sizeof *u64_set->value);
    CHECK(u64_set->key && u64_set->value);
    for (size_t i = 0; i < old.size; i++) {
        if (!old.key[i])
            continue;
        const size_t at = place_of(u64_set, old.key[i]);
        u64_set->key[at] = old.key[i];
        u64_set->value[at] = old.value[i];
    }
    u64_set_free(&old);
}

const uint64_t *u64_set_get(const struct u64_set *u64_set, uint64_t mark)
{
    if (u64_set->size == 0)
        return NULL;
    const size_t at = place_of(u64_set, mark);
    return u64_set->key[at] ? &u64_set->value[at] : NULL;
}

uint64_t *u64_set_put(struct u64_set *u64_set, uint64_t mark)
{
    CHECK(mark != 0);
    if (4 * (u64_set->count + 1) > 3 * u64_set->size)
        grow(u64_set);
    const size_t at = place_of(u64_set, mark);
    u64_set->count += !u64_set->key[at];
    u64_set->key[at] = mark;
    return &u64_set->value[at];
}

void u64_set_free(struct u64_set *u64_set)
{
    free(u64_set->key);
    free(u64_set->value);
}
