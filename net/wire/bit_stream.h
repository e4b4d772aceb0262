/* A stream of bits, least significant first, over bytes; and Rice and Elias gamma codes in it.
 *
 *   put(value, bits): value's low bit comes first;   take(bits): the same value back
 *
 * Both sides keep up to 63 bits in a register and move whole words, so they touch up to
 * BITS_TAIL_BYTES bytes after the stream: the caller keeps them readable and writable.
 * Nothing here fails. A reader that runs past its end reads zeros or the tail, and its position
 * shows it: whoever reads compares the position with what was there.
 */
#ifndef HEARSAY_NET_WIRE_BIT_STREAM_H
#define HEARSAY_NET_WIRE_BIT_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define BITS_TAIL_BYTES 16
#define BITS_AT_ONCE    56 /* the most one put or one filled reader can carry */

/* Eight bytes, little-endian; compilers make one instruction of each. */
static inline uint64_t bits_load(const void *from)
{
    uint8_t in[8];
    memcpy(in, from, 8);
    return (uint64_t)in[0] | (uint64_t)in[1] << 8 | (uint64_t)in[2] << 16 | (uint64_t)in[3] << 24 |
           (uint64_t)in[4] << 32 | (uint64_t)in[5] << 40 | (uint64_t)in[6] << 48 |
           (uint64_t)in[7] << 56;
}

static inline void bits_store(void *to, uint64_t value)
{
    uint8_t out[8] = {(uint8_t)value,         (uint8_t)(value >> 8),  (uint8_t)(value >> 16),
                      (uint8_t)(value >> 24), (uint8_t)(value >> 32), (uint8_t)(value >> 40),
                      (uint8_t)(value >> 48), (uint8_t)(value >> 56)};
    memcpy(to, out, 8);
}

static inline uint64_t bits_mask(unsigned bits)
{
    return ((uint64_t)1 << bits) - 1;
}

struct bit_writer {
    uint8_t *out;
    size_t at;     /* whole bytes finished */
    uint64_t held; /* the bits after them */
    unsigned held_bits;
};

/* bits <= BITS_AT_ONCE, value < 2^bits. */
static inline void bits_put(struct bit_writer *w, uint64_t value, unsigned bits)
{
    w->held |= value << w->held_bits;
    w->held_bits += bits;
    bits_store(w->out + w->at, w->held);
    w->at += w->held_bits >> 3;
    w->held >>= w->held_bits & ~7u;
    w->held_bits &= 7;
}

static inline uint64_t bits_written(const struct bit_writer *w)
{
    return 8 * (uint64_t)w->at + w->held_bits;
}

struct bit_reader {
    const uint8_t *in;
    size_t bytes; /* that may be touched: the stream and its tail */
    size_t at;    /* next byte to load */
    uint64_t held;
    unsigned held_bits;
};

/* Afterwards at least BITS_AT_ONCE bits are held. Bits above held_bits are those that come next
 * or zero, so loading them a second time changes nothing (F. Giesen's branch-free refill). */
static inline void bits_fill(struct bit_reader *r)
{
    if (r->at + 8 <= r->bytes)
        r->held |= bits_load(r->in + r->at) << r->held_bits;
    r->at += (63 - r->held_bits) >> 3;
    r->held_bits |= 56;
}

static inline uint64_t bits_take(struct bit_reader *r, unsigned bits)
{
    uint64_t value = r->held & bits_mask(bits);
    r->held >>= bits;
    r->held_bits -= bits;
    return value;
}

static inline uint64_t bits_read(const struct bit_reader *r)
{
    return 8 * (uint64_t)r->at - r->held_bits;
}

/* Rice code: number >> k in ones, a zero, then the k low bits; or RICE_ESCAPE ones, then the
 * number in 32 bits. k <= RICE_PARAMETER_MAX, so a code never exceeds BITS_AT_ONCE. */
#define RICE_ESCAPE        24
#define RICE_PARAMETER_MAX 31
#define RICE_ESCAPE_BITS   (RICE_ESCAPE + 32)

static inline uint32_t rice_bits(uint32_t number, unsigned k)
{
    uint32_t ones = number >> k;
    return ones < RICE_ESCAPE ? ones + 1 + k : RICE_ESCAPE_BITS;
}

struct rice_code {
    uint64_t value;
    unsigned bits;
};

static inline struct rice_code rice_code(uint32_t number, unsigned k)
{
    unsigned ones = number >> k;
    if (ones >= RICE_ESCAPE)
        return (struct rice_code){(uint64_t)number << RICE_ESCAPE | bits_mask(RICE_ESCAPE),
                                  RICE_ESCAPE_BITS};
    /* 2^ones - 1 is the ones and the zero above them. */
    return (struct rice_code){((2 * (number & bits_mask(k)) + 1) << ones) - 1, ones + 1 + k};
}

static inline void rice_put(struct bit_writer *w, uint32_t number, unsigned k)
{
    struct rice_code code = rice_code(number, k);
    bits_put(w, code.value, code.bits);
}

/* Two numbers, mostly for the price of one. */
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

/* Ones before the next zero, at most RICE_ESCAPE. */
static inline unsigned bits_ones(const struct bit_reader *r)
{
    return (unsigned)__builtin_ctzll(~r->held | (uint64_t)1 << RICE_ESCAPE);
}

/* Is the whole code held already? */
static inline bool rice_is_held(const struct bit_reader *r, unsigned k)
{
    return bits_ones(r) + 1 + k <= r->held_bits && bits_ones(r) < RICE_ESCAPE;
}

/* The reader must be filled, or hold the code. */
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

/* Elias gamma code of number + 1, number < 2^GAMMA_MAX_BITS - 1: as many ones as it has bits
 * below its highest, a zero, those bits. A number too large is read as UINT32_MAX. */
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

/* The reader must be filled. */
static inline uint32_t gamma_take(struct bit_reader *r)
{
    unsigned ones = bits_ones(r);
    if (ones >= GAMMA_MAX_BITS)
        return UINT32_MAX;
    (void)bits_take(r, ones + 1);
    return (uint32_t)((bits_take(r, ones) | (uint64_t)1 << ones) - 1);
}

#endif
