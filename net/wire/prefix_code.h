/* Prefix codes of unsigned numbers in a bit stream: Rice codes and Elias gamma codes.
 *
 *   Rice, parameter k    number >> k as ones, a zero, then the k low bits;
 *                        or RICE_ESCAPE ones, then the number in 32 bits
 *   Elias gamma          of v = number + 1: a one for each bit of v below its highest bit,
 *                        a zero, then these lower bits of v
 *
 * The take functions consume bits of a filled reader (bits_fill). Sources: Rice, Plaunt 1971; Elias
 * 1975. Tests: tests/unit/net/test_body_codec.c and test_rumor.c.
 */
#ifndef HEARSAY_NET_WIRE_PREFIX_CODE_H
#define HEARSAY_NET_WIRE_PREFIX_CODE_H

#include <stdbool.h>

#include "wire/bit_stream.h"

/* RICE_ESCAPE ones mark an escaped number. k is at most RICE_PARAMETER_MAX. So no code exceeds
 * BITS_AT_ONCE bits. */
#define RICE_ESCAPE        24
#define RICE_PARAMETER_MAX 31
#define RICE_ESCAPE_BITS   (RICE_ESCAPE + 32)

static inline uint32_t rice_bits(uint32_t number, unsigned k)
{
    uint32_t ones = number >> k;
    return ones < RICE_ESCAPE ? ones + 1 + k : RICE_ESCAPE_BITS;
}

struct rice_code {
    uint64_t value; /* first bit of the code in the lowest bit */
    unsigned bits;
};

static inline struct rice_code rice_code(uint32_t number, unsigned k)
{
    unsigned ones = number >> k;
    if (ones >= RICE_ESCAPE)
        return (struct rice_code){(uint64_t)number << RICE_ESCAPE | bits_mask(RICE_ESCAPE),
                                  RICE_ESCAPE_BITS};
    /* The subtraction turns the lowest 1 into a zero above `ones` ones. */
    return (struct rice_code){((2 * (number & bits_mask(k)) + 1) << ones) - 1, ones + 1 + k};
}

static inline void rice_put(struct bit_writer *w, uint32_t number, unsigned k)
{
    struct rice_code code = rice_code(number, k);
    bits_put(w, code.value, code.bits);
}

static inline void rice_put_two(struct bit_writer *w, uint32_t first, uint32_t second, unsigned k)
{
    struct rice_code a = rice_code(first, k);
    struct rice_code b = rice_code(second, k);
    if (a.bits + b.bits <= BITS_AT_ONCE) {
        bits_put(w, a.value | b.value << a.bits, a.bits + b.bits);
    } else {
        bits_put(w, a.value, a.bits);
        bits_put(w, b.value, b.bits);
    }
}

/* Returns how many ones precede the next zero, at most RICE_ESCAPE. */
static inline unsigned bits_ones(const struct bit_reader *r)
{
    return (unsigned)__builtin_ctzll(~r->held | (uint64_t)1 << RICE_ESCAPE);
}

/* Returns true if the reader holds the next code completely and the code is no escape. */
static inline bool rice_is_held(const struct bit_reader *r, unsigned k)
{
    return bits_ones(r) + 1 + k <= r->held_bits && bits_ones(r) < RICE_ESCAPE;
}

/* The reader must be filled or hold the code. */
static inline uint32_t rice_take(struct bit_reader *r, unsigned k)
{
    unsigned ones = bits_ones(r);
    if (ones < RICE_ESCAPE) {
        uint64_t low = r->held >> (ones + 1) & bits_mask(k);
        r->held >>= ones + 1 + k;
        r->held_bits -= ones + 1 + k;
        return (uint32_t)((uint64_t)ones << k | low);
    }
    (void)bits_take(r, RICE_ESCAPE);
    return (uint32_t)bits_take(r, 32);
}

/* Numbers < 2^GAMMA_MAX_BITS - 1 have a gamma code. Any other number reads as UINT32_MAX. */
#define GAMMA_MAX_BITS 20

static inline unsigned gamma_bits(uint32_t number)
{
    return 2 * (63 - (unsigned)__builtin_clzll((uint64_t)number + 1)) + 1;
}

static inline void gamma_put(struct bit_writer *w, uint32_t number)
{
    uint64_t value = (uint64_t)number + 1;
    unsigned ones = 63 - (unsigned)__builtin_clzll(value);
    bits_put(w, (value & bits_mask(ones)) << (ones + 1) | bits_mask(ones), 2 * ones + 1);
}

/* The reader must be filled (bits_fill). */
static inline uint32_t gamma_take(struct bit_reader *r)
{
    unsigned ones = bits_ones(r);
    if (ones >= GAMMA_MAX_BITS)
        return UINT32_MAX;
    (void)bits_take(r, ones + 1);
    return (uint32_t)((bits_take(r, ones) | (uint64_t)1 << ones) - 1);
}

#endif
