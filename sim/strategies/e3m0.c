#include "strategies/e3m0.h"

#include <math.h>

#define LEAST_EXPONENT (-6) /* codes are 0 and 2^-6 … 2^0 */

/* Returns the code nearest to `part`, a number from 0 to 1. */
static float nearest(float part)
{
    int exponent;
    const float fraction =
        frexpf(part, &exponent); /* part is fraction · 2^exponent with 1/2 <= fraction < 1 */
    const int power = fraction < 0.75f ? exponent - 1 : exponent;
    if (part < ldexpf(0.5f, LEAST_EXPONENT))
        return 0;
    return ldexpf(1, int_max(power, LEAST_EXPONENT));
}

void e3m0_round(float *values, size_t count)
{
    float most = 0;
    for (size_t c = 0; c < count; c++)
        most = fmaxf(most, fabsf(values[c]));
    for (size_t c = 0; c < count && most > 0; c++)
        values[c] = copysignf(most * nearest(fabsf(values[c]) / most), values[c]);
}

static void compress(void *self, uint32_t i, float *progress, size_t parameters)
{
    (void)self;
    (void)i;
    for (size_t from = 0; from < parameters; from += E3M0_CHUNK) {
        const size_t left = parameters - from;
        e3m0_round(progress + from, size_min(left, E3M0_CHUNK));
    }
}

static uint64_t message_bytes(const void *self, size_t parameters)
{
    (void)self;
    return ((uint64_t)parameters + 1) / 2;
}

const struct compressor e3m0_compressor = {
    .compress = compress, .message_bytes = message_bytes, .is_reduced = true};
