/* A rumor on the wire: a head of fixed size, a compressed body, the origin's signature.
 *
 *   OFFSET SIZE MEANING
 *        0  128 head (signed_head.h), with the hashes of the previous head and of the body
 *      128    n body (body_codec.h)
 *    128+n   64 the origin's signature of the head
 *
 * Nodes keep and forward exactly these bytes.
 * Tests: tests/unit/net/test_rumor.c refuses every bit flip and truncation.
 */
#ifndef HEARSAY_NET_WIRE_RUMOR_H
#define HEARSAY_NET_WIRE_RUMOR_H

#include "base/error.h"
#include "base/update.h"
#include "crypto/identity.h"
#include "wire/signed_head.h"

/* Largest size of a rumor (head, body and signature) in bytes; fits in one message. */
#define RUMOR_MAX   65000
#define RUMOR_LEAST 1024 /* smallest `most` that rumor_encode accepts */
#define RUMOR_MIN   (HEAD_BYTES + 1 + SIGNATURE_BYTES)

struct rumor_head {
    uint8_t origin[ID_BYTES];
    uint64_t incarnation;
    uint32_t seq;     /* number of the rumor in the stream of this incarnation, from 0 */
    uint64_t samples; /* samples that the origin had learned when it published the rumor */
    uint32_t count;   /* number of entries; set by rumor_peek, ignored by rumor_encode */
    uint8_t prev[HEAD_HASH_BYTES]; /* hash of the previous head in the stream; zeros if seq is 0 */
};

/* Encodes and signs the entries of `update` from number `from` on: as many as fill `most` bytes
 * (RUMOR_LEAST .. RUMOR_MAX) to within a few percent, or all that are left. Sets *taken to the
 * number of these entries (>= 1) and *bytes to the rumor's size. `identity` must be that of the
 * head's origin, and the update must be valid. Does not check how far the rumor moves the base
 * (move.h). */
void rumor_encode(const struct rumor_head *head, const struct update *update, uint32_t from,
                  size_t most, const struct identity *identity,
                  const uint8_t context[static CONTEXT_BYTES], uint8_t out[static RUMOR_MAX],
                  uint32_t *taken, size_t *bytes);

/* Writes the hash of the body into a rumor whose other bytes are complete, signs the rumor and
 * returns its size. Callers are rumor_encode, and attackers and tests that forge rumors. */
size_t rumor_seal(uint8_t *rumor, size_t body_bytes, const struct identity *identity,
                  const uint8_t context[static CONTEXT_BYTES]);

/* Reads the head. Checks only the size: returns MALFORMED if the rumor is too short or too long. */
enum error rumor_peek(const uint8_t *in, size_t bytes, struct rumor_head *head) MUST_USE;

/* Copies head and signature and computes the hash. Requires bytes >= RUMOR_MIN; nothing else is
 * checked. */
void rumor_signed_head(const uint8_t *in, size_t bytes, const uint8_t context[static CONTEXT_BYTES],
                       struct signed_head *head);

/* Decodes a rumor and checks everything except its predecessor. It checks the limits of the head
 * (tau, amount, count, move), prev and samples of a first rumor, the signature and the hash of the
 * body. In the body it checks structure and order, top and length, index < parameters, and that no
 * bits are left over. update->index and update->level have `capacity` entries and are undefined
 * unless the result is OK. Returns TOO_BIG for more than `capacity` entries, MALFORMED for limits
 * or body, FORGED for signature or hash. With a capacity of RUMOR_ENTRIES_MAX, acceptance is a pure
 * function of bytes, context and parameters. */
enum error rumor_decode(const uint8_t *in, size_t bytes,
                        const uint8_t context[static CONTEXT_BYTES], uint64_t parameters,
                        uint32_t capacity, struct update *update) MUST_USE;

/* Decodes bytes that rumor_decode accepted, without checking them again. update must have space for
 * all entries. */
void rumor_decode_again(const uint8_t *in, size_t bytes, uint64_t parameters,
                        struct update *update);

/* Largest number of entries of a rumor: each takes at least two bits, a gap and a sign. */
#define RUMOR_ENTRIES_MAX (4u * RUMOR_MAX)

#endif
