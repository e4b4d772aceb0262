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
 * A rumor travels and is kept as exactly these bytes; nobody changes them on the way. body.h has
 * the body. The context (of the swarm and its model) makes a rumor worthless elsewhere. Held by
 * tests/unit/net/test_rumor.c: every bit flip and truncation is refused.
 */
#ifndef HEARSAY_NET_WIRE_RUMOR_H
#define HEARSAY_NET_WIRE_RUMOR_H

#include "base/error.h"
#include "base/update.h"
#include "crypto/identity.h"

#define RUMOR_HEAD_BYTES 64
#define RUMOR_MAX        65000 /* head, body and signature; fits one message */
#define RUMOR_LEAST      1024  /* the smallest room that rumor_encode fills */
#define RUMOR_MIN        (RUMOR_HEAD_BYTES + 1 + SIGNATURE_BYTES)

struct rumor_head {
    uint8_t origin[ID_BYTES]; /* id of the node that published it */
    uint64_t incarnation;     /* of that node */
    uint32_t seq;             /* number in the stream of this incarnation, from 0 */
    uint64_t samples;         /* that the origin had learned by then */
    uint32_t count;           /* entries: read by rumor_peek, not written by rumor_encode */
};

/* Encodes and signs the entries of `update` from number `from` on: as many as fill `most` bytes
 * (RUMOR_LEAST .. RUMOR_MAX) to within a few percent, or all that are left. *taken says how many
 * (>= 1), *bytes the size. `identity` must be the head's origin, and the update must be valid. */
void rumor_encode(const struct rumor_head *head, const struct update *update, uint32_t from,
                  size_t most, const struct identity *identity,
                  const uint8_t context[static CONTEXT_BYTES], uint8_t out[static RUMOR_MAX],
                  uint32_t *taken, size_t *bytes);

/* Reads the head alone and checks only the size. MALFORMED: too short or too long. */
enum error rumor_peek(const uint8_t *in, size_t bytes, struct rumor_head *head) MUST_USE;

/* Checks everything: the limits of the head (tau, amount, count), the signature, structure and
 * order of the body, |level|, index < parameters, no bit left over. Writes update->index and
 * update->level, which have room for `capacity` entries and hold rubbish unless OK, and on OK the
 * rest of update. TOO_BIG: it has more entries. MALFORMED: limits or body. FORGED: the signature.
 * With a capacity of RUMOR_ENTRIES_MAX what is accepted is a pure function of the bytes. */
enum error rumor_decode(const uint8_t *in, size_t bytes,
                        const uint8_t context[static CONTEXT_BYTES], uint64_t parameters,
                        uint32_t capacity, struct update *update) MUST_USE;

/* Reads the entries again from bytes that rumor_decode has accepted, without checking anything a
 * second time. update has room for all of them. */
void rumor_decode_again(const uint8_t *in, size_t bytes, uint64_t parameters,
                        struct update *update);

/* A rumor cannot hold more entries than this: a gap and a sign take two bits at least. */
#define RUMOR_ENTRIES_MAX (4u * RUMOR_MAX)

#endif
