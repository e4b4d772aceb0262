/* The rumor on the wire: a head of fixed size, a compressed body, the origin's signature.
 *
 *   OFFSET SIZE MEANING
 *        0  128 the head (signed_head.h): with the hash of the head before it and of the body
 *      128    n body
 *    128+n   64 the origin's signature of the head
 *
 * A rumor travels and is kept as exactly these bytes; nobody changes them on the way. body.h has
 * the body. Held by tests/unit/net/test_rumor.c: every bit flip and truncation is refused.
 */
#ifndef HEARSAY_NET_WIRE_RUMOR_H
#define HEARSAY_NET_WIRE_RUMOR_H

#include "base/error.h"
#include "base/update.h"
#include "crypto/identity.h"
#include "wire/signed_head.h"

#define RUMOR_MAX   65000 /* head, body and signature; fits one message */
#define RUMOR_LEAST 1024  /* the smallest room that rumor_encode fills */
#define RUMOR_MIN   (HEAD_BYTES + 1 + SIGNATURE_BYTES)

struct rumor_head {
    uint8_t origin[ID_BYTES];      /* id of the node that published it */
    uint64_t incarnation;          /* of that node */
    uint32_t seq;                  /* number in the stream of this incarnation, from 0 */
    uint64_t samples;              /* that the origin had learned by then */
    uint32_t count;                /* entries: read by rumor_peek, not written by rumor_encode */
    uint8_t prev[HEAD_HASH_BYTES]; /* hash of the head before it; of number 0: zeros */
};

/* Encodes and signs the entries of `update` from number `from` on: as many as fill `most` bytes
 * (RUMOR_LEAST .. RUMOR_MAX) to within a few percent, or all that are left. *taken says how many
 * (>= 1), *bytes the size. `identity` must be the head's origin, and the update must be valid. How
 * far it moves the base is not looked at (move.h). */
void rumor_encode(const struct rumor_head *head, const struct update *update, uint32_t from,
                  size_t most, const struct identity *identity,
                  const uint8_t context[static CONTEXT_BYTES], uint8_t out[static RUMOR_MAX],
                  uint32_t *taken, size_t *bytes);

/* Sets the hash of the body and signs a rumor that is otherwise there; returns its bytes. For
 * rumor_encode, and for who makes up rumors that no node makes. */
size_t rumor_seal(uint8_t *rumor, size_t body_bytes, const struct identity *identity,
                  const uint8_t context[static CONTEXT_BYTES]);

/* Reads the head alone and checks only the size. MALFORMED: too short or too long. */
enum error rumor_peek(const uint8_t *in, size_t bytes, struct rumor_head *head) MUST_USE;

/* Its head with the signature and the hash; the size must be right, and nothing else is checked. */
void rumor_signed_head(const uint8_t *in, size_t bytes, const uint8_t context[static CONTEXT_BYTES],
                       struct signed_head *head);

/* Checks everything but what came before it: the limits of the head (tau, amount, count, how far it
 * moves the base), the signature, the hash of the body, its structure and order, |level|, that it
 * is as the head says, index < parameters, no bit left over. Writes update->index and
 * update->level, which have room for `capacity` entries and hold rubbish unless OK, and on OK the
 * rest of update. TOO_BIG: it has more entries. MALFORMED: limits or body. FORGED: the signature or
 * the hash. With a capacity of RUMOR_ENTRIES_MAX what is accepted is a pure function of the bytes.
 */
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
