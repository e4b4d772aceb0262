/* A stream of bits, least significant first, over bytes.
 *
 *   bits_put(value, bits) writes the low bit of value first; bits_take(bits) returns that value
 *
 * Writer and reader keep up to 63 bits in a register and move whole words. They touch up to
 * BITS_TAIL_BYTES bytes after the stream, which the caller keeps readable and writable. Nothing
 * here fails. A reader that runs past the end reads zeros or the tail, and its position shows the
 * overrun: the caller compares bits_read with the length of the stream. prefix_code.h has the codes
 * that the stream carries.
 */
#ifndef HEARSAY_NET_WIRE_BIT_STREAM_H
#define HEARSAY_NET_WIRE_BIT_STREAM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define BITS_TAIL_BYTES 16
#define BITS_AT_ONCE    56 /* most bits of one bits_put, or of all bits_take between two bits_fill */

/* bits_load and bits_store are little-endian. Compilers emit one instruction for each. */
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
    size_t at;          /* whole bytes written to `out` */
    uint64_t held;      /* bits that follow the written bytes and are not written yet */
    unsigned held_bits; /* bits in `held`, 0 .. 7 between two calls */
};

/* Appends the low `bits` bits of value. Requires bits <= BITS_AT_ONCE and value < 2^bits. */
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
    size_t bytes; /* readable bytes: the stream and its tail */
    size_t at;
    uint64_t held; /* loaded bits that bits_take has not returned yet */
    unsigned held_bits;
};

/* Loads bytes until `held` has at least BITS_AT_ONCE bits. Bits of `held` above held_bits are
 * zero or already equal the next bits, so loading them twice changes nothing (branch-free refill by
 * F. Giesen). */
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

#endif
