/* A rumor's body, decoded by two decoders. The node's decoder reads up to eight levels at a time.
 * The one here reads bit by bit, as wire/body_codec.h describes. Both must accept the same bodies
 * and decode equal entries. */
#include "fuzz/fuzz.h"
#include "wire/body_codec.h"

#define ENTRIES_MAX 4096
#define BODY_MAX    4096

void fuzz_begin(void)
{
}

/* Reads bits, the lowest bit of a byte first. Reading beyond the end sets is_broken. */
struct bits {
    const uint8_t *in;
    uint64_t at;
    uint64_t end;
    bool is_broken;
};

static unsigned plain_bit(struct bits *bits)
{
    if (bits->at >= bits->end) {
        bits->is_broken = true;
        return 0;
    }
    const unsigned bit = bits->in[bits->at / 8] >> (bits->at % 8) & 1;
    bits->at++;
    return bit;
}

static uint64_t plain_number(struct bits *bits, unsigned count)
{
    uint64_t number = 0;
    for (unsigned i = 0; i < count; i++)
        number |= (uint64_t)plain_bit(bits) << i;
    return number;
}

static unsigned plain_ones(struct bits *bits, unsigned most)
{
    unsigned ones = 0;
    while (ones < most && plain_bit(bits))
        ones++;
    return ones;
}

static uint64_t plain_rice(struct bits *bits, unsigned k)
{
    const uint64_t ones = plain_ones(bits, RICE_ESCAPE);
    if (ones == RICE_ESCAPE)
        return plain_number(bits, 32);
    return (ones << k | plain_number(bits, k)) & UINT32_MAX;
}

static uint64_t plain_gamma(struct bits *bits)
{
    const unsigned ones = plain_ones(bits, GAMMA_MAX_BITS);
    if (ones == GAMMA_MAX_BITS)
        return UINT32_MAX; /* more members than any layer has */
    return (1u << ones | plain_number(bits, ones)) - 1;
}

struct plain {
    uint32_t count;
    uint64_t index[ENTRIES_MAX];
    int level[ENTRIES_MAX];
};

static bool plain_first(struct plain *plain, struct bits *bits, uint64_t parameters)
{
    const unsigned k = (unsigned)plain_number(bits, 5);
    uint64_t next = 0;
    for (uint32_t i = 0; i < plain->count && !bits->is_broken; i++) {
        next += plain_rice(bits, k);
        plain->index[i] = next++;
        plain->level[i] = 1;
    }
    return !bits->is_broken && next <= parameters;
}

/* Decodes one layer: a list of its members, or a list of the previous layer's members that it
 * lacks. Returns false if the layer is malformed. */
static bool plain_layer(struct plain *plain, struct bits *bits, int layer, uint64_t *members)
{
    uint32_t member[ENTRIES_MAX];
    uint64_t count = 0, at = 0;
    for (uint32_t i = 0; i < plain->count; i++)
        if (plain->level[i] == layer - 1)
            member[count++] = i;
    const bool inverted = plain_bit(bits);
    const uint64_t listed = plain_gamma(bits);
    if (listed > count)
        return false;
    for (uint64_t i = 0; i < count && inverted; i++)
        plain->level[member[i]]++;
    const unsigned k = listed > 0 ? (unsigned)plain_number(bits, 5) : 0;
    for (uint64_t i = 0; i < listed; i++) {
        at += plain_rice(bits, k);
        if (at >= count || bits->is_broken)
            return false;
        plain->level[member[at++]] += inverted ? -1 : 1;
    }
    *members = inverted ? count - listed : listed;
    return true;
}

static bool plain_decode(struct plain *plain, const uint8_t *in, size_t bytes, uint64_t parameters)
{
    struct bits bits = {.in = in, .end = 8 * (uint64_t)bytes};
    uint64_t members = plain->count;
    if (!plain_first(plain, &bits, parameters))
        return false;
    for (int layer = 2; layer <= LEVEL_MAX && members > 0; layer++)
        if (!plain_layer(plain, &bits, layer, &members))
            return false;
    for (uint32_t i = 0; i < plain->count; i++)
        if (plain_bit(&bits))
            plain->level[i] = -plain->level[i];
    while (bits.at % 8 != 0)
        if (plain_bit(&bits))
            return false;
    return !bits.is_broken && bits.at == bits.end;
}

static void same_entries(const struct plain *plain, const uint32_t *index, const int8_t *level)
{
    for (uint32_t i = 0; i < plain->count; i++)
        CHECK(index[i] == plain->index[i] && level[i] == plain->level[i]);
}

/* Checks that the entries are unchanged after encoding and decoding. */
static void comes_back(uint64_t parameters, uint32_t count, const uint32_t *index,
                       const int8_t *level)
{
    static uint8_t out[1 << 16];
    static uint32_t index_again[ENTRIES_MAX];
    static int8_t level_again[ENTRIES_MAX];
    struct body_plan plan;
    body_plan_make(&plan, index, level, count, sizeof out - BITS_TAIL_BYTES);
    CHECK(plan.count == count);
    const size_t bytes = body_encode(&plan, index, level, out);
    CHECK(body_decode(out, bytes, parameters, count, index_again, level_again) == OK);
    CHECK(memcmp(index, index_again, count * sizeof *index) == 0);
    CHECK(memcmp(level, level_again, count * sizeof *level) == 0);
}

void fuzz_one(const uint8_t *data, size_t bytes)
{
    static struct plain plain;
    static uint8_t body[BODY_MAX + BITS_TAIL_BYTES];
    static uint32_t index[ENTRIES_MAX];
    static int8_t level[ENTRIES_MAX];
    struct input input = {data, bytes};
    const uint32_t count = 1 + (uint32_t)input_number(&input, 2) % ENTRIES_MAX;
    const uint64_t parameters = 1 + input_number(&input, 4);
    /* value of the bytes behind the body, where a rumor has its signature */
    const uint8_t tail = input_byte(&input);
    size_t body_bytes;
    const uint8_t *from = input_bytes(&input, BODY_MAX, &body_bytes);
    if (body_bytes > 0)
        memcpy(body, from, body_bytes);
    memset(body + body_bytes, tail, BITS_TAIL_BYTES);
    plain.count = count;
    const bool is_good = 2 * (uint64_t)count <= 8 * (uint64_t)body_bytes &&
                         plain_decode(&plain, body, body_bytes, parameters);
    const enum error error = body_decode(body, body_bytes, parameters, count, index, level);
    CHECK((error == OK) == is_good);
    if (error != OK)
        return;
    same_entries(&plain, index, level);
    comes_back(parameters, count, index, level);
}
