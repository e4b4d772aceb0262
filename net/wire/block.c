#include "wire/block.h"

uint32_t block_count(uint64_t parameters, uint32_t each)
{
    CHECK(each >= 1 && each <= BLOCK_ENTRIES);
    return (uint32_t)((parameters + each - 1) / each);
}

uint32_t block_entries(uint64_t parameters, uint32_t each, uint32_t block)
{
    const uint64_t left = parameters - (uint64_t)block * each;
    return left < each ? (uint32_t)left : each;
}

static uint32_t zigzag(int32_t units)
{
    return (uint32_t)units << 1 ^ (units < 0 ? UINT32_MAX : 0);
}

static int32_t unzigzag(uint32_t code)
{
    const int64_t half = code >> 1;
    return (int32_t)(code & 1 ? -half - 1 : half);
}

static unsigned width_of(const int32_t *units, uint32_t count)
{
    uint32_t all = 0;
    for (uint32_t i = 0; i < count; i++)
        all |= zigzag(units[i]);
    unsigned width = 0;
    while (width < 32 && all >> width)
        width++;
    return width;
}

size_t block_encode(const int32_t *units, uint32_t count, uint8_t *out)
{
    CHECK(count >= 1 && count <= BLOCK_ENTRIES);
    const unsigned width = width_of(units, count);
    size_t at = 0;
    uint64_t held = 0;
    unsigned held_bits = 0;
    out[at++] = (uint8_t)width;
    for (uint32_t i = 0; i < count; i++) {
        held |= (uint64_t)zigzag(units[i]) << held_bits;
        held_bits += width;
        for (; held_bits >= 8; held_bits -= 8, held >>= 8)
            out[at++] = (uint8_t)held;
    }
    if (held_bits > 0)
        out[at++] = (uint8_t)held;
    return at;
}

enum error block_decode(const uint8_t *in, size_t bytes, int32_t *units, uint32_t count)
{
    CHECK(count >= 1 && count <= BLOCK_ENTRIES);
    const unsigned width = bytes > 0 ? in[0] : UINT8_MAX;
    if (width > 32 || bytes != 1 + ((size_t)width * count + 7) / 8)
        return MALFORMED;
    const uint32_t mask = (uint32_t)(((uint64_t)1 << width) - 1);
    size_t at = 1;
    uint64_t held = 0;
    unsigned held_bits = 0;
    for (uint32_t i = 0; i < count; i++) {
        for (; held_bits < width; held_bits += 8)
            held |= (uint64_t)in[at++] << held_bits;
        units[i] = unzigzag((uint32_t)held & mask);
        held >>= width;
        held_bits -= width;
    }
    return held == 0 && width == width_of(units, count) ? OK : MALFORMED;
}
