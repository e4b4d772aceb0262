/* Bit sets: one bit per small number. */
#ifndef HEARSAY_BASE_BITS_H
#define HEARSAY_BASE_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline size_t bit_words(size_t bits)
{
    return (bits + 63) / 64;
}

static inline bool bit_get(const uint64_t *bits, uint32_t i)
{
    return bits[i / 64] >> (i % 64) & 1;
}

static inline void bit_set(uint64_t *bits, uint32_t i, bool value)
{
    bits[i / 64] = (bits[i / 64] & ~(1ull << (i % 64))) | (uint64_t)value << (i % 64);
}

#endif
