#include "world/u64_set.h"

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "base/error.h"

uint64_t marks_of(const void *bytes, size_t count)
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
static size_t place_of(const struct marks *marks, uint64_t mark)
{
    size_t at = (size_t)rng_mix(mark) & (marks->size - 1);
    while (marks->key[at] && marks->key[at] != mark)
        at = (at + 1) & (marks->size - 1);
    return at;
}

static void grow(struct marks *marks)
{
    struct marks old = *marks;
    marks->size = old.size ? 2 * old.size : 1024;
    marks->key = calloc(marks->size, sizeof *marks->key);
    marks->value = calloc(marks->size, sizeof *marks->value);
    CHECK(marks->key && marks->value);
    for (size_t i = 0; i < old.size; i++) {
        if (!old.key[i])
            continue;
        const size_t at = place_of(marks, old.key[i]);
        marks->key[at] = old.key[i];
        marks->value[at] = old.value[i];
    }
    marks_free(&old);
}

const uint64_t *marks_get(const struct marks *marks, uint64_t mark)
{
    if (marks->size == 0)
        return NULL;
    const size_t at = place_of(marks, mark);
    return marks->key[at] ? &marks->value[at] : NULL;
}

uint64_t *marks_put(struct marks *marks, uint64_t mark)
{
    CHECK(mark != 0);
    if (4 * (marks->count + 1) > 3 * marks->size)
        grow(marks);
    const size_t at = place_of(marks, mark);
    marks->count += !marks->key[at];
    marks->key[at] = mark;
    return &marks->value[at];
}

void marks_free(struct marks *marks)
{
    free(marks->key);
    free(marks->value);
}
