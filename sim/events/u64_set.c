#include "events/u64_set.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/rng.h"

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

/* Returns the index of the key, or of the free slot where it belongs. */
static size_t slot_of(const struct u64_set *set, uint64_t key)
{
    size_t at = (size_t)rng_mix(key) & (set->size - 1);
    while (set->key[at] && set->key[at] != key)
        at = (at + 1) & (set->size - 1);
    return at;
}

static void grow(struct u64_set *set)
{
    struct u64_set old = *set;
    set->size = old.size ? 2 * old.size : 1024;
    set->key = memory_new(set->size, sizeof *set->key);
    set->value = memory_new(set->size, sizeof *set->value);
    for (size_t i = 0; i < old.size; i++) {
        if (!old.key[i])
            continue;
        const size_t at = slot_of(set, old.key[i]);
        set->key[at] = old.key[i];
        set->value[at] = old.value[i];
    }
    u64_set_free(&old);
}

const uint64_t *u64_set_get(const struct u64_set *set, uint64_t key)
{
    if (set->size == 0)
        return NULL;
    const size_t at = slot_of(set, key);
    return set->key[at] ? &set->value[at] : NULL;
}

uint64_t *u64_set_put(struct u64_set *set, uint64_t key)
{
    CHECK(key != 0);
    if (4 * (set->count + 1) > 3 * set->size)
        grow(set);
    const size_t at = slot_of(set, key);
    set->count += !set->key[at];
    set->key[at] = key;
    return &set->value[at];
}

void u64_set_free(struct u64_set *set)
{
    free(set->key);
    free(set->value);
}
