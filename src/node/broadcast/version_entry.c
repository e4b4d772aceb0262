#include "node/broadcast/version_entry.h"

#include "base/rng.h"

uint64_t version_entry_hash(uint64_t tag, uint32_t next, const uint8_t *head_hash)
{
    return next > 0 ? rng_mix(tag ^ rng_mix(next ^ bytes_get(head_hash, 8))) : 0;
}

void version_entry_put(uint8_t *out, uint64_t tag, uint32_t next, const uint8_t *head_hash)
{
    bytes_put(out, tag, 8);
    bytes_put(out + 8, next, 4);
    memcpy(out + 12, head_hash, SHOWN_HASH_BYTES);
}

void learned_put(uint8_t *out, const struct learned *learned)
{
    bytes_put(out, learned->samples, 8);
    bytes_put_float(out + 8, learned->rate);
}

struct version_entry version_entry_at(const uint8_t *vector, size_t i)
{
    const uint8_t *at = vector + i * VERSION_ENTRY_BYTES;
    return (struct version_entry){
        .tag = bytes_get(at, 8), .next = (uint32_t)bytes_get(at + 8, 4), .hash = at + 12};
}

struct learned learned_at(const uint8_t *vector, size_t i)
{
    const uint8_t *at = vector + i * LEARNED_BYTES;
    return (struct learned){.samples = bytes_get(at, 8), .rate = bytes_get_float(at + 8)};
}
