/* Reading and writing of little-endian numbers of up to 8 bytes, and of floats. */
#ifndef HEARSAY_NET_FRAME_BYTES_H
#define HEARSAY_NET_FRAME_BYTES_H

#include <stddef.h>
#include <stdint.h>

#include "base/float_bits.h"

static inline void bytes_put(uint8_t *out, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        out[i] = (uint8_t)(value >> (8 * i));
}

static inline uint64_t bytes_get(const uint8_t *in, size_t bytes)
{
    uint64_t value = 0;
    for (size_t i = 0; i < bytes; i++)
        value |= (uint64_t)in[i] << (8 * i);
    return value;
}

static inline void bytes_put_float(uint8_t *out, float value)
{
    bytes_put(out, bits_of_float(value), sizeof value);
}

static inline float bytes_get_float(const uint8_t *in)
{
    return float_of_bits((uint32_t)bytes_get(in, sizeof(float)));
}

#endif
