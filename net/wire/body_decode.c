/* Reads a body from untrusted bytes. body_encode.c writes one. */
#include "wire/body_codec.h"
#include "wire/levels.h"

/* How the decoder finds the entries of a layer: all levels start at 1, and each layer raises the
 * level of its members. So the members of layer j are the entries whose level is at least j. Signs
 * come last. */

#define RICE_USUAL 3 /* typical length of a Rice code in bits, without the low k bits */

static enum error take_first(struct bit_reader *reader, uint64_t parameters, uint32_t count,
                             uint32_t *index)
{
    struct bit_reader r = *reader;
    bits_fill(&r);
    unsigned k = (unsigned)bits_take(&r, 5);
    uint64_t next = 0; /* the sum cannot wrap, because count and gap have 32 bits */
    /* codes read per refill of the reader; the latency of a refill dominates the time */
    const uint32_t at_once = BITS_AT_ONCE / (k + RICE_USUAL);
    for (uint32_t i = 0; i < count;) {
        const uint32_t end = count - i < at_once ? count : i + at_once;
        bits_fill(&r);
        for (; i < end; i++) {
            if (!rice_is_held(&r, k))
                bits_fill(&r);
            next += rice_take(&r, k);
            index[i] = (uint32_t)next++;
        }
    }
    *reader = r;
    return next <= parameters ? OK : MALFORMED;
}

static void raise_all(int8_t *level, uint32_t count, unsigned from)
{
    int8_t there = (int8_t)from;
    for (uint32_t i = 0; i < count; i++)
        level[i] = (int8_t)(level[i] + (level[i] == there));
}

/* take_listed for layer 2: all entries are members of layer 1, so a gap counts entries. */
static enum error take_second(struct bit_reader *reader, int8_t *level, uint32_t count,
                              uint32_t listed, int step)
{
    struct bit_reader r = *reader;
    bits_fill(&r);
    unsigned k = (unsigned)bits_take(&r, 5);
    uint64_t at = 0; /* the sum cannot wrap, because listed and gap have 32 bits */
    for (uint32_t i = 0; i < listed; i++) {
        bits_fill(&r);
        at += rice_take(&r, k);
        if (at >= count)
            return MALFORMED;
        level[at] = (int8_t)(level[at] + step);
        at++;
    }
    *reader = r;
    return OK;
}

/* Adds `step` to the level of each entry that `layer` lists: 1, or -1 if the layer is inverted. */
static enum error take_listed(struct bit_reader *reader, int8_t *level, uint32_t count,
                              unsigned layer, uint32_t listed, int step)
{
    struct bit_reader r = *reader;
    bits_fill(&r);
    unsigned k = (unsigned)bits_take(&r, 5);
    /* Set (levels.h) of the previous layer's members, among the eight levels before `at`, that the
     * loop has not passed. */
    uint64_t members = 0;
    uint32_t at = 0;
    for (uint32_t i = 0; i < listed; i++) {
        bits_fill(&r);
        uint32_t gap = rice_take(&r, k);
        while (gap >= set_size(members)) {
            gap -= set_size(members);
            if (at >= count)
                return MALFORMED;
            members = levels_at_least(levels_load(level, count, at), layer - 1);
            at += 8;
        }
        while (gap-- > 0)
            members &= members - 1;
        int8_t *entry = level + at - 8 + (__builtin_ctzll(members) >> 3);
        *entry = (int8_t)(*entry + step);
        members &= members - 1;
    }
    *reader = r;
    return OK;
}

static uint32_t members_after(const struct body_layer *layer, uint32_t members)
{
    return layer->inverted ? members - layer->listed : layer->listed;
}

static enum error take_later(struct bit_reader *r, int8_t *level, uint32_t count, unsigned layer,
                             uint32_t *members)
{
    struct body_layer how;
    bits_fill(r);
    how.inverted = bits_take(r, 1) != 0;
    how.listed = gamma_take(r);
    if (how.listed > *members)
        return MALFORMED;
    if (how.inverted)
        raise_all(level, count, layer - 1);
    *members = members_after(&how, *members);
    if (how.listed == 0)
        return OK;
    int step = how.inverted ? -1 : 1;
    if (layer == 2)
        return take_second(r, level, count, how.listed, step);
    return take_listed(r, level, count, layer, how.listed, step);
}

static void take_signs(struct bit_reader *reader, int8_t *level, uint32_t count)
{
    struct bit_reader r = *reader;
    uint32_t at = 0;
    for (; count - at >= 8; at += 8) {
        bits_fill(&r);
        uint64_t negative = spread_bits(bits_take(&r, 8));
        bits_store(level + at, (bits_load(level + at) ^ negative * 0xFF) + negative);
    }
    bits_fill(&r);
    for (; at < count; at++)
        level[at] = (int8_t)(bits_take(&r, 1) != 0 ? -level[at] : level[at]);
    *reader = r;
}

/* Returns OK if the stream ends in the last byte and the rest of that byte is zero. */
static enum error take_end(struct bit_reader *r, size_t bytes)
{
    uint64_t end = 8 * (uint64_t)bytes;
    uint64_t position = bits_read(r);
    if (position > end || end - position > 7)
        return MALFORMED;
    bits_fill(r);
    return bits_take(r, (unsigned)(end - position)) == 0 ? OK : MALFORMED;
}

enum error body_decode(const uint8_t *in, size_t bytes, uint64_t parameters, uint32_t count,
                       uint32_t *index, int8_t *level)
{
    struct bit_reader reader = {.in = in, .bytes = bytes + BITS_TAIL_BYTES};
    uint32_t members = count;
    if (2 * (uint64_t)count > 8 * (uint64_t)bytes)
        return MALFORMED; /* each entry takes at least two bits: a gap and a sign */
    if (take_first(&reader, parameters, count, index) != OK)
        return MALFORMED;
    memset(level, 1, count);
    for (unsigned layer = 2; layer <= LEVEL_MAX && members > 0; layer++)
        if (take_later(&reader, level, count, layer, &members) != OK)
            return MALFORMED;
    take_signs(&reader, level, count);
    return take_end(&reader, bytes);
}
