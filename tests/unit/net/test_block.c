/* Encoding of blocks of a base. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "wire/block.h"

static int32_t units[BLOCK_ENTRIES], back[BLOCK_ENTRIES];
static uint8_t bytes[BLOCK_MAX];

/* Draws entries of up to `bits` bits with both signs. */
static void draw(struct rng *rng, uint32_t count, unsigned bits)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t any = bits ? (uint32_t)(rng_next(rng) >> (64 - bits)) : 0;
        memcpy(&units[i], &any, sizeof any);
        if (bits < 32 && bits > 0 && rng_below(rng, 2))
            units[i] = -units[i];
    }
}

static void decodes_what_it_encoded(void **state)
{
    (void)state;
    struct rng rng = rng_new(1, 2);
    static const uint32_t counts[] = {1, 2, 7, 8, 9, 63, 1000, BLOCK_ENTRIES - 1, BLOCK_ENTRIES};
    for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++)
        for (unsigned bits = 0; bits <= 32; bits++) {
            draw(&rng, counts[k], bits);
            const size_t size = block_encode(units, counts[k], bytes);
            assert_true(size <= BLOCK_MAX && bytes[0] <= 32);
            assert_int_equal(block_decode(bytes, size, back, counts[k]), OK);
            assert_memory_equal(back, units, counts[k] * sizeof *units);
        }
}

static void decodes_the_ends_of_the_range(void **state)
{
    (void)state;
    static const int32_t ends[] = {INT32_MIN, INT32_MAX, 0, -1, 1};
    memcpy(units, ends, sizeof ends);
    const size_t size = block_encode(units, 5, bytes);
    assert_int_equal(size, 1 + 5 * 4);
    assert_int_equal(block_decode(bytes, size, back, 5), OK);
    assert_memory_equal(back, ends, sizeof ends);
}

static void entries_have_the_width_of_the_largest(void **state)
{
    (void)state;
    memset(units, 0, sizeof units);
    assert_int_equal(block_encode(units, BLOCK_ENTRIES, bytes), 1);
    units[77] = -4; /* zigzag code 7 takes three bits */
    assert_int_equal(block_encode(units, BLOCK_ENTRIES, bytes), 1 + 3 * BLOCK_ENTRIES / 8);
    units[77] = 4; /* zigzag code 8 takes four bits */
    assert_int_equal(block_encode(units, BLOCK_ENTRIES, bytes), 1 + 4 * BLOCK_ENTRIES / 8);
}

static enum error decode_exactly(size_t size, uint32_t count)
{
    uint8_t *copy =
        malloc(size ? size : 1); /* exact size, so that a sanitizer detects reads behind it */
    memcpy(copy, bytes, size);
    const enum error error = block_decode(copy, size, back, count);
    free(copy);
    return error;
}

static void refuses_other_sizes(void **state)
{
    (void)state;
    struct rng rng = rng_new(3, 4);
    draw(&rng, 100, 22);
    const size_t size = block_encode(units, 100, bytes);
    for (size_t shorter = 0; shorter < size; shorter++)
        assert_int_equal(decode_exactly(shorter, 100), MALFORMED);
    assert_int_equal(decode_exactly(size + 1, 100), MALFORMED);
    assert_int_equal(decode_exactly(size, 99), MALFORMED);
    assert_int_equal(decode_exactly(size, 101), MALFORMED);
    bytes[0] = 33;
    assert_int_equal(decode_exactly(1 + (33 * 100 + 7) / 8, 100), MALFORMED);
}

/* A block has one encoding: with the least width, and zeros in unused bits. */
static void refuses_another_encoding_of_the_same_entries(void **state)
{
    (void)state;
    memset(units, 0, sizeof units);
    memset(bytes, 0, sizeof bytes);
    bytes[0] = 8;
    assert_int_equal(decode_exactly(1 + 100, 100), MALFORMED);
    units[0] = 1;
    const size_t size = block_encode(units, 3, bytes); /* three entries of two bits */
    assert_int_equal(size, 2);
    bytes[1] |= 0x80;
    assert_int_equal(decode_exactly(size, 3), MALFORMED);
}

static void blocks_cover_the_base(void **state)
{
    (void)state;
    assert_int_equal(block_count(1, BLOCK_ENTRIES), 1);
    assert_int_equal(block_count(BLOCK_ENTRIES, BLOCK_ENTRIES), 1);
    assert_int_equal(block_count(BLOCK_ENTRIES + 1, BLOCK_ENTRIES), 2);
    assert_int_equal(block_entries(BLOCK_ENTRIES + 1, BLOCK_ENTRIES, 0), BLOCK_ENTRIES);
    assert_int_equal(block_entries(BLOCK_ENTRIES + 1, BLOCK_ENTRIES, 1), 1);
    assert_int_equal(block_count(700, 20), 35);
    assert_int_equal(block_entries(700, 20, 34), 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decodes_what_it_encoded),
        cmocka_unit_test(decodes_the_ends_of_the_range),
        cmocka_unit_test(entries_have_the_width_of_the_largest),
        cmocka_unit_test(refuses_other_sizes),
        cmocka_unit_test(refuses_another_encoding_of_the_same_entries),
        cmocka_unit_test(blocks_cover_the_base),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
