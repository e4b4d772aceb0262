/* A proof that a member lies: two heads of one stream, signed by it, that cannot both be true, or
 * of which one is beyond what any rumor may do. Anybody who knows the context and the number of the
 * model's parameters can check it.
 *
 *   OFFSET SIZE MEANING
 *        0  192 a signed head (signed_head.h)
 *      192  192 another of the same origin and incarnation:
 *              FORK    of the same number, and then the smaller by its bytes comes first; or of the
 *                      next number, whose prev is not the first's hash
 *              EXCESS  the same head again, which is not within what a head may say
 *                      (head_is_within); or the one that follows, whose samples do not
 *                      (head_samples_follow)
 *
 * What is in doubt begins with the number of the first; where both have one number and differ in
 * what came before, with the number before it; where the samples do not follow, with that of the
 * second. Only what is signed counts, so whoever passes a proof on can neither make it up nor
 * change it. Held by tests/unit/net/test_proof.c: every truncation and bit flip is refused.
 */
#ifndef HEARSAY_NET_WIRE_PROOF_H
#define HEARSAY_NET_WIRE_PROOF_H

#include "wire/signed_head.h"

#define PROOF_BYTES (2 * SIGNED_HEAD_BYTES)

enum proof_kind {
    PROOF_FORK,   /* two streams */
    PROOF_EXCESS, /* a rumor beyond what any may do */
    PROOF_VOTES   /* no two heads, but what more than half of the members voted for (vote.h) */
};

struct proof {
    enum proof_kind kind;     /* what the two heads are to each other */
    uint8_t author[ID_BYTES]; /* who signed both */
    uint64_t incarnation;     /* of it */
    uint32_t keep;            /* the rumors of that incarnation before this one are not in doubt */
};

/* Two heads, in either order, or one and itself. MISMATCH: they can both be true. */
enum error proof_create(const struct signed_head *one, const struct signed_head *other,
                        uint64_t parameters, uint8_t out[static PROOF_BYTES]) MUST_USE;

/* What the bytes prove, if the signatures hold, which are not looked at. MALFORMED: nothing. */
enum error proof_parse(const uint8_t in[static PROOF_BYTES],
                       const uint8_t context[static CONTEXT_BYTES], uint64_t parameters,
                       struct proof *proof) MUST_USE;

/* Checks the signatures of what proof_parse has taken. FORGED: one does not hold. */
enum error proof_verify(const uint8_t in[static PROOF_BYTES],
                        const uint8_t context[static CONTEXT_BYTES]) MUST_USE;

/* Does it leave less than the other, of the same author? Of what two proofs leave the less counts:
 * what stays is of the lowest incarnation in doubt, and there the least. */
bool proof_is_stricter(const struct proof *proof, const struct proof *than);

/* So many rumors of that incarnation of the author stay. */
uint32_t proof_keeps(const struct proof *proof, uint64_t incarnation);

#endif
