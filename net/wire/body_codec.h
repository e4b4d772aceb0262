/* The body of a rumor: which entries move and by which level, compressed.
 *
 *   layer 1        the base entries that move
 *   layer j        the entries of layer j-1 with |level| >= j              (j = 2 .. 127)
 *   signs          one bit per entry, 1 = negative
 *   zero bits      up to the next byte
 *
 * A layer lists positions in increasing order, each as the Rice-coded gap to the previous one.
 * Layer 1 lists positions among all base entries, later layers positions among the entries of layer
 * j-1.
 *
 *   layer 1        parameter k (5 bits), then `count` gaps
 *   layer j        inverted (1 bit), number listed (Elias gamma), and if that is not 0:
 *                  parameter k (5 bits), then the gaps
 *
 * An inverted layer lists the entries that stay at j-1. The last layer is the first one without
 * members, or layer 127. prefix_code.h has the codes.
 *
 * Levels have about a geometric distribution, and each layer is a sparse set with its own density.
 * Rice codes therefore stay near the entropy at every density and mix of levels (Golomb 1966; Rice,
 * Plaunt 1971): within 5 % of it in tests/unit/net/test_rumor.c. body_encode.c plans and writes,
 * body_decode.c reads.
 */
#ifndef HEARSAY_NET_WIRE_BODY_CODEC_H
#define HEARSAY_NET_WIRE_BODY_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/update.h"
#include "wire/prefix_code.h"

struct body_layer {
    uint32_t listed; /* positions that the layer lists */
    /* The layer lists the entries of the previous layer that it does not contain. */
    bool inverted;
    uint8_t parameter; /* Rice parameter k of the gaps; 0 if the layer lists nothing */
};

/* How to write a body. A plan is valid only for the entries that body_plan_make was given. */
struct body_plan {
    uint32_t count;
    uint64_t bits;                          /* exact size of the body */
    struct body_layer layer[LEVEL_MAX + 1]; /* indexed by the number of the layer, from 1 */
};

#define BODY_ENTRIES_MAX (1u << 18) /* largest number of entries in a plan */

/* Plans a body with the first entries of index[count] and level[count]: all, up to
 * BODY_ENTRIES_MAX, if they fit in room_bytes; otherwise as many as fill room_bytes to within a few
 * percent. room_bytes must hold at least one entry: 64 bytes suffice. */
void body_plan_make(struct body_plan *plan, const uint32_t *index, const int8_t *level,
                    uint32_t count, size_t room_bytes);

/* Returns the size of the body in bytes. Also writes up to BITS_TAIL_BYTES bytes behind it. */
size_t body_encode(const struct body_plan *plan, const uint32_t *index, const int8_t *level,
                   uint8_t *out);

/* Decodes `count` entries from exactly `bytes` bytes; BITS_TAIL_BYTES more must be readable.
 * Returns MALFORMED if the bits break the format, run out or are left over, or if an index reaches
 * `parameters`. index and level are then undefined. The work is bounded by count for any input. */
enum error body_decode(const uint8_t *in, size_t bytes, uint64_t parameters, uint32_t count,
                       uint32_t *index, int8_t *level) MUST_USE;

#endif
