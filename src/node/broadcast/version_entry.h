/* The wire format of a version: an entry for each origin.
 *
 *   OFFSET SIZE MEANING       (one entry, little-endian, 28 bytes)
 *        0    8 tag
 *        8    4 next
 *       12   16 the first bytes of the hash of head number next - 1
 *
 * A whole version also carries the learned samples of each entry's origin, in the order of the
 * entries:
 *
 *        0    8 samples
 *        8    4 samples per second, the most it has reported, float32; 0 = unknown
 */
#ifndef HEARSAY_NODE_BROADCAST_VERSION_ENTRY_H
#define HEARSAY_NODE_BROADCAST_VERSION_ENTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "wire/signed_head.h"

#define VERSION_ENTRY_BYTES 28
#define SHOWN_HASH_BYTES    16 /* bytes of a head's hash, enough to make collisions infeasible */
#define LEARNED_BYTES       12

struct version_entry {
    uint64_t tag;        /* tag of the origin */
    uint32_t next;       /* number of the origin's next rumor */
    const uint8_t *hash; /* [SHOWN_HASH_BYTES] of head next - 1; undefined if next is 0 */
};
struct version_entry version_entry_at(const uint8_t *vector, size_t i);
void version_entry_put(uint8_t *out, uint64_t tag, uint32_t next, const uint8_t *head_hash);

/* Returns what an entry adds to the hash of a version; 0 if next is 0. head_hash: hash of head next
 * - 1. */
uint64_t version_entry_hash(uint64_t tag, uint32_t next, const uint8_t *head_hash);

static inline bool version_entry_shows(const struct version_entry *entry,
                                       const uint8_t hash[static HEAD_HASH_BYTES])
{
    return memcmp(entry->hash, hash, SHOWN_HASH_BYTES) == 0;
}

struct learned {
    uint64_t samples; /* samples that the origin has learned */
    /* largest samples per second that the origin reported; unchecked, may be NaN */
    float rate;
};
struct learned learned_at(const uint8_t *vector, size_t i);
void learned_put(uint8_t *out, const struct learned *learned);

#endif
