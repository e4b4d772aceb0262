/* A block of the base on the wire: BLOCK_ENTRIES consecutive entries, the last block maybe fewer.
 *
 *   OFFSET SIZE MEANING
 *        0    1 width: bits of each entry, 0 .. 32
 *        1    n the entries, zigzag (0 -1 1 -2 ...), width bits each, least significant first;
 *               unused bits of the last byte are 0
 *
 * The width is that of the largest code in the block. Entries have units of 2^-24: where all
 * weights are below 1/8, an entry takes 22 bits or fewer instead of 32. Tests:
 * tests/unit/net/test_block.c.
 */
#ifndef HEARSAY_NET_WIRE_BLOCK_H
#define HEARSAY_NET_WIRE_BLOCK_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* This size lets a block and its version fit one message. */
#define BLOCK_ENTRIES 8192
#define BLOCK_MAX     (1 + BLOCK_ENTRIES * 4)

/* block_count: blocks of `each` entries in a base. block_entries: entries of block number `block`;
 * the last may have fewer. */
uint32_t block_count(uint64_t parameters, uint32_t each);
uint32_t block_entries(uint64_t parameters, uint32_t each, uint32_t block);

/* Encodes units[count], 1 <= count <= BLOCK_ENTRIES, to out[BLOCK_MAX]. Returns the size in
 * bytes. */
size_t block_encode(const int32_t *units, uint32_t count, uint8_t *out);

/* Returns MALFORMED unless the bytes are exactly what block_encode writes for `count` entries.
 * After MALFORMED, units[count] may be partly overwritten. */
enum error block_decode(const uint8_t *in, size_t bytes, int32_t *units, uint32_t count) MUST_USE;

#endif
