/* The digest of a base: bases of equal versions must have equal digests.
 *
 * Two linear hashes modulo 2^32, side by side in 64 bits:
 *     digest(b) = ( Σ h1(c)·b[c] mod 2^32 ) · 2^32 + ( Σ h2(c)·b[c] mod 2^32 ),   h1, h2 odd.
 * The base wraps modulo 2^32, so both halves do too. Therefore the digest of a sum is the sum of
 * the digests, even if an entry wraps. One sum modulo 2^64 would not have this property.
 */
#ifndef HEARSAY_BASE_DIGEST_H
#define HEARSAY_BASE_DIGEST_H

#include <stdint.h>

#include "base/rng.h"
#include "base/update.h"

/* Returns the two odd hash factors of base entry `index`, h1 and h2, packed into 64 bits. */
ON_DEVICE static inline uint64_t digest_hash(uint32_t index)
{
    return rng_mix(index + 0x9E3779B97F4A7C15u) | 0x0000000100000001u;
}

/* Adds each 32-bit half modulo 2^32. */
ON_DEVICE static inline uint64_t digest_add(uint64_t a, uint64_t b)
{
    uint64_t high = (a & 0xFFFFFFFF00000000u) + (b & 0xFFFFFFFF00000000u);
    return high | (uint32_t)((uint32_t)a + (uint32_t)b);
}

/* Returns the change of a base's digest when `units` are added to base entry `index`. */
ON_DEVICE static inline uint64_t digest_of_entry(uint32_t index, uint32_t units)
{
    uint64_t hash = digest_hash(index);
    uint32_t high = (uint32_t)(hash >> 32) * units;
    uint32_t low = (uint32_t)hash * units;
    return (uint64_t)high << 32 | low;
}

/* Returns the change of a base's digest by an update: the sum over the update's entries. */
uint64_t digest_of_update(const struct update *update);

#endif
