/* Companding: how a base stores a weight that may be large, as a compressed value.
 *
 *   weight     -4    -2    0    2    4    8    16   …   2^63   …   2^126
 *   value      -3    -2    0    2    3    4     5   …    64    …    127
 *
 * A base entry is a whole number of units, and a unit of 2^-24 (update.h) can represent weights
 * below 128. In a companded base the unit is 2^-24 up to a weight of 2. Beyond 2, the unit doubles
 * with each power of two, as the spacing of float32 numbers does. A weight from -2 to 2 is its own
 * value, bit for bit. Any finite weight has a value. Thresholds and moves are relative to the
 * weight if the weight is large. The map is linear between two powers of two (an octave), as in
 * G.711, with a power of two as its factor. So companding_compress rounds only once, to the nearest
 * float32, and companding_expand is exact: all devices compute the same bits.
 *
 * Entries are added up as values, so a base is still an integer sum, in any order.
 * Tests: tests/unit/model/test_companding.c.
 */
#ifndef HEARSAY_BASE_COMPANDING_H
#define HEARSAY_BASE_COMPANDING_H

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/float_bits.h"
#include "base/update.h"

#define COMPANDING_FROM 2.0f /* weights from -2 to 2 are their own value */
/* Largest float32 below 128; a larger value does not fit into a base entry. */
#define VALUE_MAX 0x1.fffffep+6f
/* Value at the end of the octave that contains the largest float32. */
#define VALUE_END 129.0f

/* Returns the value of a weight, between -VALUE_MAX and VALUE_MAX. A larger weight never has a
 * smaller value. Infinity and NaN stay unchanged. */
ON_DEVICE static inline float companding_compress(float weight)
{
    const uint32_t bits = bits_of_float(weight), size = bits & 0x7FFFFFFFu;
    if (size < 0x40000000u || size >= 0x7F800000u)
        return weight;
    const float octave = (float)((int)(size >> 23) - 127);
    const float value = octave + float_of_bits((size & 0x7FFFFFu) | 0x3F800000u);
    return float_of_bits(bits_of_float(value < VALUE_MAX ? value : VALUE_MAX) |
                         (bits & 0x80000000u));
}

/* Returns the weight of a value; from VALUE_END on, the largest float32 with the value's sign.
 * Infinity and NaN stay unchanged. */
ON_DEVICE static inline float companding_expand(float value)
{
    const uint32_t bits = bits_of_float(value), size = bits & 0x7FFFFFFFu;
    if (size < 0x40000000u || size >= 0x7F800000u)
        return value;
    const float absolute = float_of_bits(size);
    float weight = FLT_MAX;
    if (absolute < VALUE_END) {
        const int octave = (int)absolute - 1;
        weight = float_of_bits(bits_of_float(absolute - (float)octave) + ((uint32_t)octave << 23));
    }
    return float_of_bits(bits_of_float(weight) | (bits & 0x80000000u));
}

/* An initial weight of this size or larger makes the base companded. */
#define COMPANDING_WEIGHT 16.0f
/* Largest initial weight of a companded base. Its value is 64. From there on no publication moves a
 * value farther from 0 (backend/error_feedback.h). */
#define FIRST_WEIGHT_MAX 0x1p63f

ON_DEVICE static inline float value_of_weight(float weight, bool companded)
{
    return companded ? companding_compress(weight) : weight;
}

ON_DEVICE static inline float weight_of_value(float value, bool companded)
{
    return companded ? companding_expand(value) : value;
}

/* Returns a weight in base units, rounded to nearest; the weight must not be NaN. A base that is
 * not companded cannot hold ±128 or more, so such a weight counts as ±VALUE_MAX. */
static inline int32_t units_of_weight(float weight, bool companded)
{
    const float value = value_of_weight(weight, companded);
    return (int32_t)lrintf(fmaxf(fminf(value, VALUE_MAX), -VALUE_MAX) / QUANTUM);
}

static inline float weight_of_units(int32_t units, bool companded)
{
    return weight_of_value(QUANTUM * (float)units, companded);
}

#endif
