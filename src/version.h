/* The version: for each origin, the number of the next rumor expected from it.
 *
 * An origin is one life (incarnation) of one node; its tag is a 64-bit hash of both, short enough
 * to be sent once a second for each. The digest of all that is known rides along: since rumors are
 * sums, it follows from the rumors alone, and two nodes with equal versions must have equal ones.
 *
 *   OFFSET SIZE MEANING                       (one entry of the vector on the wire, 12 bytes)
 *        0    8 tag, little-endian
 *        8    4 next
 */
#ifndef HEARSAY_VERSION_H
#define HEARSAY_VERSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "identity.h"

#define VERSION_ENTRY_BYTES 12

struct origin {
    uint64_t tag;
    uint8_t id[ID_BYTES];
    uint64_t incarnation;
    uint32_t next;
    uint64_t samples;    /* as its latest rumor says */
    uint64_t heard_from; /* conn that brought its latest rumor */

    /* Somebody has more of it than we do: since when, how much we had then, and who. */
    bool lacking;
    uint32_t lacking_to;
    uint32_t lacking_at;
    uint64_t lacking_since_ns;
    uint64_t lacking_from; /* conn */
};

struct versions {
    struct origin *origins; /* [max], in the order they were met; an origin keeps its place */
    uint32_t count;
    uint32_t max;
    uint32_t *slots; /* open addressing: place + 1, 0 is free */
    uint32_t slots_mask;
    uint64_t digest;
};

uint64_t origin_tag(const uint8_t id[static ID_BYTES], uint64_t incarnation);

void versions_init(struct versions *versions, struct arena *arena, uint32_t max, uint64_t digest);

/* NULL if not known. */
struct origin *versions_find(const struct versions *versions, uint64_t tag);

/* NULL when the table is full. */
struct origin *versions_add(struct versions *versions, const uint8_t id[static ID_BYTES],
                            uint64_t incarnation);

static inline uint32_t versions_place(const struct versions *versions, const struct origin *origin)
{
    return (uint32_t)(origin - versions->origins);
}

/* How many rumors are known. */
uint64_t versions_rumors(const struct versions *versions);

/* Every origin we know rumors of; returns bytes written (<= capacity / 12 entries). */
size_t versions_encode(const struct versions *versions, uint8_t *out, size_t capacity);

struct version_entry {
    uint64_t tag;
    uint32_t next;
};
struct version_entry version_entry_at(const uint8_t *vector, size_t i);

/* Is this vector ours exactly? */
bool versions_equal(const struct versions *versions, const uint8_t *vector, size_t bytes);

#endif
