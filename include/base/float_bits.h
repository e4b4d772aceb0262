/* Converts a float32 to the integer with the same bits (IEEE 754) and back. */
#ifndef HEARSAY_BASE_FLOAT_BITS_H
#define HEARSAY_BASE_FLOAT_BITS_H

#include <stdint.h>
#include <string.h>

#include "base/on_device.h"

static inline ON_DEVICE float float_of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline ON_DEVICE uint32_t bits_of_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

#endif
