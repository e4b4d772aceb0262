/* Sums and functions for loops that compilers turn into vector instructions. */
#ifndef HEARSAY_MODEL_BACKEND_CPU_CPU_VECTOR_H
#define HEARSAY_MODEL_BACKEND_CPU_CPU_VECTOR_H

#include <stdint.h>

#include "base/float_bits.h"

/* Compiles a function for each width of vectors. The version that fits the processor is chosen
 * while the program is loaded. Not used with sanitizers, which are not initialised at that time,
 * nor with clang, where it is untested. */
#if defined __x86_64__ && defined __GLIBC__ && !defined __SANITIZE_ADDRESS__ &&                    \
    !defined __SANITIZE_THREAD__ && !defined __clang__
#define EACH_WIDTH __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define EACH_WIDTH
#endif

/* Number of partial sums of a loop, added in a fixed order; they fill whole vectors. */
#define LANES 16

static inline float lanes_sum(const float lanes[static LANES])
{
    float eight[8], four[4];
    for (int i = 0; i < 8; i++)
        eight[i] = lanes[i] + lanes[i + 8];
    for (int i = 0; i < 4; i++)
        four[i] = eight[i] + eight[i + 4];
    return (four[0] + four[2]) + (four[1] + four[3]);
}

/* Returns exp(x) to about one unit in the last place, without a branch. Splits x = n ln 2 + r with
 * |r| <= ln 2 / 2 and computes exp(r) by its series up to r⁷. Below -87 it returns exp(-87), about
 * 1e-38, and above 88 exp(88). NaN stays NaN. */
static inline float vector_exp(float x)
{
    /* adding `round`, 1.5 · 2^23, rounds to a whole number */
    const float most = 88, least = -87, round = 12582912;
    const float low = x < least ? least : x;
    const float bounded = low > most ? most : low;
    const float shifted = bounded * 1.44269504088896341f + round;
    const float n = shifted - round;
    const float r = (bounded - n * 0.693359375f) + n * 2.12194440e-4f;
    float p = 1.0f / 5040;
    p = p * r + 1.0f / 720;
    p = p * r + 1.0f / 120;
    p = p * r + 1.0f / 24;
    p = p * r + 1.0f / 6;
    p = p * r + 0.5f;
    p = (p * r) * r + r + 1;
    /* the last bits of `shifted` are n: the exponent of 2^n */
    return p * float_of_bits((bits_of_float(shifted) + 127) << 23);
}

static inline float vector_sigmoid(float x)
{
    return 1 / (1 + vector_exp(-x));
}

static inline float vector_tanh(float x)
{
    return 1 - 2 / (1 + vector_exp(2 * x));
}

static inline float vector_dot(const float *restrict x, const float *restrict y, int count)
{
    float lanes[LANES] = {0}, rest = 0;
    int i = 0;
    for (; i + LANES <= count; i += LANES)
        for (int k = 0; k < LANES; k++)
            lanes[k] += x[i + k] * y[i + k];
    for (; i < count; i++)
        rest += x[i] * y[i];
    return lanes_sum(lanes) + rest;
}

/* Returns the largest of x[count], count > 0. */
static inline float vector_most(const float *x, int count)
{
    float lanes[LANES], most = x[0];
    int i = 0;
    for (int k = 0; k < LANES; k++)
        lanes[k] = x[0];
    for (; i + LANES <= count; i += LANES)
        for (int k = 0; k < LANES; k++)
            lanes[k] = x[i + k] > lanes[k] ? x[i + k] : lanes[k];
    for (; i < count; i++)
        most = x[i] > most ? x[i] : most;
    for (int k = 0; k < LANES; k++)
        most = lanes[k] > most ? lanes[k] : most;
    return most;
}

static inline float vector_sum(const float *x, int count)
{
    float lanes[LANES] = {0}, rest = 0;
    int i = 0;
    for (; i + LANES <= count; i += LANES)
        for (int k = 0; k < LANES; k++)
            lanes[k] += x[i + k];
    for (; i < count; i++)
        rest += x[i];
    return lanes_sum(lanes) + rest;
}

#endif
