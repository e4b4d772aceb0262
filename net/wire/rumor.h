/* The rumor on the wire: a fixed head, a compressed body, the origin's signature.
 *
 *   OFFSET SIZE MEANING                                       (all numbers little-endian)
 *        0   32 origin: the id of the node that learned it
 *       32    8 incarnation of the origin
 *       40    4 seq: the number of this rumor in the origin's stream, from 0
 *       44    4 count of entries, >= 1
 *       48    8 samples the origin had learned by then
 *       56    4 tau, float32
 *       60    4 amount
 *       64    n body
 *     64+n   64 Ed25519 signature over BLAKE2b-512 of bytes 0 .. 64+n, keyed with the context
 *
 * A rumor travels and is kept as exactly these bytes; whoever passes it on changes nothing. The
 * body is body.h's; the context (of the swarm and its model) makes a rumor worthless elsewhere.
 * Held by tests/unit/net/test_rumor.c: every bit flip and truncation is refused.
 */
#ifndef HEARSAY_NET_WIRE_RUMOR_H
#define HEARSAY_NET_WIRE_RUMOR_H

#include "crypto/identity.h"
#include "base/error.h"
#include "base/update.h"

#define RUMOR_HEAD_BYTES 64
#define RUMOR_MAX        65000 /* head, body and signature; fits one message */
#define RUMOR_LEAST      1024  /* none is cut smaller if there is more */
#define RUMOR_MIN        (RUMOR_HEAD_BYTES + 1 + SIGNATURE_BYTES)
#define CONTEXT_BYTES    16

struct rumor_head {
    uint8_t origin[ID_BYTES];
    uint64_t incarnation;
    uint32_t seq;
    uint64_t samples;
    uint32_t count; /* entries, as rumor_peek finds it */
};

/* Encode the entries of `update` from number `from` on, as many as fill `most` bytes of out (at
 * least 1 KiB, at most RUMOR_MAX) to within a few percent, or all that are left; *taken says how
 * many (>= 1), *bytes the size. Signed by `identity`, which must be the head's origin. The update
 * must be valid. */
void rumor_encode(const struct rumor_head *head, const struct update *update, uint32_t from,
                  size_t most, const struct identity *identity,
                  const uint8_t context[static CONTEXT_BYTES], uint8_t out[static RUMOR_MAX],
                  uint32_t *taken, size_t *bytes);

/* The head alone, without checking more than the size; MALFORMED if too short or too long. */
enum error rumor_peek(const uint8_t *in, size_t bytes, struct rumor_head *head) MUST_USE;

/* Everything: head limits (tau, amount, count), signature, structure, order, |level|, index <
 * parameters, no bit left over. Writes update->index and update->level (capacity entries; TOO_BIG
 * if it has more), which hold rubbish unless OK, and on OK the rest of update. With a capacity of
 * RUMOR_ENTRIES_MAX what this accepts is a pure function of the bytes. */
enum error rumor_decode(const uint8_t *in, size_t bytes,
                        const uint8_t context[static CONTEXT_BYTES], uint64_t parameters,
                        uint32_t capacity, struct update *update) MUST_USE;

/* The same of bytes that it has accepted before and that nobody could change since: only the
 * entries are read again. update has room for all of them. */
void rumor_decode_again(const uint8_t *in, size_t bytes, uint64_t parameters,
                        struct update *update);

/* A rumor cannot hold more entries than this: a gap and a sign take two bits at least. */
#define RUMOR_ENTRIES_MAX (4u * RUMOR_MAX)

#endif
