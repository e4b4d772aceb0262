/* Converts bfloat16 and float16 to float32 and back, rounded to nearest, ties to even. NaN stays
 * NaN. Tests: tests/unit/library/test_caller_tensors.c and
 * tests/unit/state/test_safetensors.c.
 */
#ifndef HEARSAY_BASE_HALF_H
#define HEARSAY_BASE_HALF_H

#include <math.h>
#include <stdint.h>

#include "base/float_bits.h"
#include "base/on_device.h"

enum half_type { HALF_BFLOAT16, HALF_FLOAT16 };

/* A bfloat16 is the upper half of the float32's bits. */
static inline ON_DEVICE float half_of_bfloat16(uint16_t half)
{
    return float_of_bits((uint32_t)half << 16);
}

static inline ON_DEVICE uint16_t half_to_bfloat16(float value)
{
    const uint32_t bits = bits_of_float(value);
    if (isnan(value))
        return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* A float16 has 1 sign bit, 5 exponent bits (bias 15) and 10 fraction bits. */
static inline ON_DEVICE float half_of_float16(uint16_t half)
{
    const uint32_t sign = (uint32_t)(half & 0x8000) << 16, exponent = half >> 10 & 31;
    const uint32_t fraction = half & 0x3ff;
    if (exponent == 31)
        return float_of_bits(sign | 0x7f800000 | fraction << 13);
    if (exponent == 0)
        return copysignf((float)fraction * 0x1p-24f, float_of_bits(sign | 0x3f800000));
    return float_of_bits(sign | (exponent + 112) << 23 | fraction << 13);
}

static inline ON_DEVICE uint16_t half_to_float16(float value)
{
    const uint16_t sign = (uint16_t)(bits_of_float(value) >> 16 & 0x8000);
    const float size = fabsf(value);
    if (isnan(value))
        return sign | 0x7e00;
    /* From the midpoint between 65504, the largest float16, and 2^16 on, a number rounds to
     * infinity. */
    if (size >= 65520.0f)
        return sign | 0x7c00;
    if (size < 0x1p-14f) /* a subnormal float16 counts units of 2^-24 */
        return (uint16_t)(sign | (uint32_t)lrintf(size * 0x1p24f));
    const uint32_t bits = bits_of_float(size);
    return (uint16_t)(sign | (((bits + 0xfff + (bits >> 13 & 1)) >> 13) - (112u << 10)));
}

static inline ON_DEVICE float half_of(enum half_type type, uint16_t half)
{
    return type == HALF_BFLOAT16 ? half_of_bfloat16(half) : half_of_float16(half);
}

static inline ON_DEVICE uint16_t half_to(enum half_type type, float value)
{
    return type == HALF_BFLOAT16 ? half_to_bfloat16(value) : half_to_float16(value);
}

/* Returns the new weight for an old weight w, whose rounded 16-bit copy the caller may have changed
 * to `half`: w plus the change of the copy. A NaN or infinity in the copy also reaches the
 * weight. */
static inline ON_DEVICE float half_follow(enum half_type type, uint16_t half, float w)
{
    const float now = half_of(type, half), before = half_of(type, half_to(type, w));
    return now != before ? w + (now - before) : w;
}

#endif
