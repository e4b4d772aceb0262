/* Blocks of a base: an accepted block is encoded again as equal bytes. */
#include "fuzz/fuzz.h"
#include "wire/block.h"

void fuzz_begin(void)
{
}

void fuzz_one(const uint8_t *data, size_t bytes)
{
    static int32_t units[BLOCK_ENTRIES];
    static uint8_t again[BLOCK_MAX];
    struct input input = {data, bytes};
    const uint32_t count = 1 + (uint32_t)input_number(&input, 2) % BLOCK_ENTRIES;
    if (block_decode(input.at, input.left, units, count) != OK)
        return;
    CHECK(block_encode(units, count, again) == input.left);
    CHECK(memcmp(again, input.at, input.left) == 0);
}
