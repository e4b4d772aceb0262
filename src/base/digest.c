#include "base/digest.h"

/* Multiplies by the amount at the end, because all entries have the same amount. */
static inline uint64_t sum(const struct update *update)
{
    uint32_t high = 0, low = 0;
    for (uint32_t i = 0; i < update->count; i++) {
        const uint64_t hash = digest_hash(update->index[i]);
        const uint32_t level = (uint32_t)(int)update->level[i];
        high += (uint32_t)(hash >> 32) * level;
        low += (uint32_t)hash * level;
    }
    high *= update->amount;
    low *= update->amount;
    return (uint64_t)high << 32 | low;
}

#ifdef __x86_64__
__attribute__((target("avx2"))) static uint64_t sum_avx2(const struct update *update)
{
    return sum(update);
}

uint64_t digest_of_update(const struct update *update)
{
    return __builtin_cpu_supports("avx2") ? sum_avx2(update) : sum(update);
}
#else
uint64_t digest_of_update(const struct update *update)
{
    return sum(update);
}
#endif
