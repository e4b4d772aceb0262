/* The head of a rumor, signed by its origin. It can be kept, sent and verified without the body.
 *
 *   OFFSET SIZE MEANING                                       (all numbers little-endian)
 *        0   32 origin: the id of the node that published the rumor
 *       32    8 incarnation of the origin
 *       40    4 seq: the number of the rumor in the origin's stream, from 0
 *       44    3 count of entries, >= 1
 *       47    1 top: the greatest |level|
 *       48    6 samples that the origin had learned when it published the rumor
 *       54    2 length of the levels (move.h)
 *       56    4 tau, float32
 *       60    4 amount
 *       64   32 prev: hash of the previous head in the stream; zeros in number 0
 *       96   32 BLAKE2b-256 of the body
 *      128   64 Ed25519 signature of the origin over the hash of bytes 0 .. 128
 *
 * The hash of a head is BLAKE2b-256, keyed with the context of swarm and model, so a head is
 * invalid elsewhere. Each head contains the hash of the previous one, so a stream is a hash chain:
 * the hash of its last head stands for every rumor in it. Tests:
 * tests/unit/net/test_equivocation_proof.c and test_rumor.c.
 */
#ifndef HEARSAY_NET_WIRE_SIGNED_HEAD_H
#define HEARSAY_NET_WIRE_SIGNED_HEAD_H

#include <stdbool.h>

#include "base/error.h"
#include "crypto/identity.h"
#include "frame/bytes.h"

#define HEAD_BYTES        128
#define HEAD_HASH_BYTES   32
#define SIGNED_HEAD_BYTES (HEAD_BYTES + SIGNATURE_BYTES)

#define HEAD_INCARNATION_AT 32
#define HEAD_SEQ_AT         40
#define HEAD_COUNT_AT       44
#define HEAD_TOP_AT         47
#define HEAD_SAMPLES_AT     48
#define HEAD_LENGTH_AT      54
#define HEAD_TAU_AT         56
#define HEAD_AMOUNT_AT      60
#define HEAD_PREV_AT        64
#define HEAD_BODY_AT        96

/* A signed head with its hash; all zeros = no head. */
struct signed_head {
    uint8_t bytes[SIGNED_HEAD_BYTES];
    uint8_t hash[HEAD_HASH_BYTES]; /* hash of the first HEAD_BYTES bytes, without the signature */
};

/* Copies the bytes and computes the hash. Checks nothing. */
void signed_head_read(struct signed_head *head, const uint8_t bytes[static SIGNED_HEAD_BYTES],
                      const uint8_t context[static CONTEXT_BYTES]);

/* Returns MALFORMED unless prev is zero exactly where seq is 0, and FORGED if the origin did not
 * sign the head. */
enum error signed_head_verify(const struct signed_head *head) MUST_USE;

static inline uint64_t signed_head_incarnation(const struct signed_head *head)
{
    return bytes_get(head->bytes + HEAD_INCARNATION_AT, 8);
}

static inline uint32_t signed_head_seq(const struct signed_head *head)
{
    return (uint32_t)bytes_get(head->bytes + HEAD_SEQ_AT, 4);
}

#define HEAD_COUNT_BYTES   3
#define HEAD_SAMPLES_BYTES 6
/* Largest number of samples that a rumor may claim beyond its predecessor. */
#define HEAD_SAMPLES_STEP (1u << 24)

static inline uint64_t head_samples(const uint8_t head[static HEAD_BYTES])
{
    return bytes_get(head + HEAD_SAMPLES_AT, HEAD_SAMPLES_BYTES);
}

static inline uint64_t signed_head_samples(const struct signed_head *head)
{
    return head_samples(head->bytes);
}

/* Returns true if the rumor keeps the limits of move.h and, if it is the first of its stream,
 * claims at most HEAD_SAMPLES_STEP samples. */
bool head_is_within(const uint8_t head[static HEAD_BYTES], uint64_t parameters);

/* Returns true if a rumor that claims `samples` may directly follow one that claims `before`. */
bool head_samples_follow(uint64_t before, uint64_t samples);

/* Returns true if the head's prev is all zeros exactly when its seq is 0. */
bool head_prev_fits(const uint8_t head[static HEAD_BYTES]);

#endif
