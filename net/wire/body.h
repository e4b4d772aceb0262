/* The body of a rumor: which entries move and by which level, in few bits.
 *
 *   layer 1        the base entries that move
 *   layer j        those of layer j-1 that have |level| >= j                 (j = 2 .. 127)
 *   signs          one bit per entry, 1: negative
 *   zero bits      to the next byte
 *
 * A layer lists positions in increasing order, each as the Rice-coded gap to the one before: in
 * layer 1 positions among all base entries, later positions among the entries of layer j-1.
 *
 *   layer 1        parameter k (5 bits), then `count` gaps
 *   layer j        inverted (1 bit), number listed (Elias gamma), and if that is not 0:
 *                  parameter k (5 bits), then the gaps
 *
 * An inverted layer lists those that stay at j-1. The first layer that no entry reaches is the
 * last; layer 127 is the last in any case. The codes are in prefix_code.h.
 *
 * Levels fall off about like a geometric series and each layer is a sparse set with its own
 * density, so Rice codes stay near the entropy at every density and for every mix of levels
 * (Golomb 1966; Rice, Plaunt 1971). Within 5 % of the entropy: tests/unit/net/test_rumor.c.
 * body.c plans and writes, body_decode.c reads.
 */
#ifndef HEARSAY_NET_WIRE_BODY_H
#define HEARSAY_NET_WIRE_BODY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/update.h"
#include "wire/prefix_code.h"

/* How one layer is written. */
struct body_layer {
    uint32_t listed;   /* positions listed */
    bool inverted;     /* the listed stay in the layer before */
    uint8_t parameter; /* of the Rice code; 0 when nothing is listed */
};

/* How to write a body; valid for the entries that it was made from. */
struct body_plan {
    uint32_t count;                         /* entries in the body */
    uint64_t bits;                          /* its exact size */
    struct body_layer layer[LEVEL_MAX + 1]; /* by the number of the layer, from 1 on */
};

#define BODY_ENTRIES_MAX (1u << 18) /* no body is planned with more */

/* Plan for as many of the first of `count` entries as fill room_bytes to within a few percent, or
 * all if all fit. The room must suffice for one entry (64 bytes do). */
void body_plan_make(struct body_plan *plan, const uint32_t *index, const int8_t *level,
                    uint32_t count, size_t room_bytes);

/* Returns the bytes written. Touches up to BITS_TAIL_BYTES more. */
size_t body_encode(const struct body_plan *plan, const uint32_t *index, const int8_t *level,
                   uint8_t *out);

/* `count` entries from exactly `bytes` bytes, of which BITS_TAIL_BYTES more must be readable.
 * MALFORMED if the bits break the format, run out or are left over, or an index reaches
 * `parameters`; index and level then hold rubbish. Work is bounded by count whatever the bits say.
 */
enum error body_decode(const uint8_t *in, size_t bytes, uint64_t parameters, uint32_t count,
                       uint32_t *index, int8_t *level) MUST_USE;

#endif
