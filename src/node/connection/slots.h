/* A bit set of slots, for example of the open conversations. It saves a search through all
 * slots. */
#ifndef HEARSAY_NODE_CONNECTION_SLOTS_H
#define HEARSAY_NODE_CONNECTION_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

#define SLOTS_MAX 128

struct slots {
    uint64_t words[SLOTS_MAX / 64];
};

static inline void slots_put(struct slots *slots, uint32_t slot, bool in)
{
    CHECK(slot < SLOTS_MAX);
    const uint64_t bit = 1ull << slot % 64;
    slots->words[slot / 64] = (slots->words[slot / 64] & ~bit) | (in ? bit : 0);
}

static inline bool slots_has(const struct slots *slots, uint32_t slot)
{
    CHECK(slot < SLOTS_MAX);
    return slots->words[slot / 64] >> slot % 64 & 1;
}

/* Returns the first slot of the set that is >= `from`; SLOTS_MAX if there is none. */
static inline uint32_t slots_next(const struct slots *slots, uint32_t from)
{
    for (uint32_t word = from / 64; word < SLOTS_MAX / 64; word++) {
        const uint64_t before = word == from / 64 ? (1ull << from % 64) - 1 : 0;
        const uint64_t rest = slots->words[word] & ~before;
        if (rest)
            return word * 64 + (uint32_t)__builtin_ctzll(rest);
    }
    return SLOTS_MAX;
}

static inline uint32_t slots_count(const struct slots *slots)
{
    uint32_t count = 0;
    for (uint32_t word = 0; word < SLOTS_MAX / 64; word++)
        count += (uint32_t)__builtin_popcountll(slots->words[word]);
    return count;
}

#endif
