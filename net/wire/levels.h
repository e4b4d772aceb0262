/* Operations on eight levels (quantized values of entries) at a time, one in each byte of a word.
 * Private to body_encode.c and body_decode.c.
 *
 * A set of levels is a word with the top bit of each member's byte set.
 */
#ifndef HEARSAY_NET_WIRE_LEVELS_H
#define HEARSAY_NET_WIRE_LEVELS_H

#include <stdint.h>
#include <string.h>

#include "wire/bit_stream.h"

#define EACH_ONE 0x0101010101010101u
#define EACH_TOP 0x8080808080808080u

/* Returns the levels at .. at + 7, with zeros for indexes from `count` on. */
static inline uint64_t levels_load(const int8_t *level, uint32_t count, uint32_t at)
{
    if (count - at >= 8)
        return bits_load(level + at);
    uint8_t rest[8] = {0};
    memcpy(rest, level + at, count - at);
    return bits_load(rest);
}

static inline uint64_t levels_magnitudes(uint64_t levels)
{
    uint64_t negative = levels >> 7 & EACH_ONE;
    return (levels ^ negative * 0xFF) + negative;
}

/* Returns the set of the bytes that are >= bound (1 .. 127). All bytes are 0 .. 127. */
static inline uint64_t levels_at_least(uint64_t bytes, unsigned bound)
{
    return (bytes + EACH_ONE * (128 - bound)) & EACH_TOP;
}

static inline uint32_t set_size(uint64_t set)
{
    return (uint32_t)((set >> 7) * EACH_ONE >> 56);
}

/* Packs the top bits of eight bytes into eight bits. The product moves the top bit of byte i to bit
 * 56 + i, and no two of its terms collide. */
static inline uint64_t gather_tops(uint64_t bytes)
{
    return (bytes >> 7 & EACH_ONE) * 0x0102040810204080u >> 56;
}

/* Spreads eight bits to the low bits of eight bytes. */
static inline uint64_t spread_bits(uint64_t eight)
{
    uint64_t apart = eight * EACH_ONE & 0x8040201008040201u;
    return (apart + EACH_ONE * 0x7F) >> 7 & EACH_ONE;
}

#endif
