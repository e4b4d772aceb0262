/* A proof that a member lies: two heads of rumors of one stream, both signed by the member, that
 * contradict each other; or one head that exceeds a limit of rumors. Any node that knows the
 * context and the number of model parameters can verify it.
 *
 *   OFFSET SIZE MEANING
 *        0  192 a signed head (signed_head.h)
 *      192  192 another signed head of that origin and incarnation:
 *              EQUIVOCATION  has the same number, the smaller by its bytes first; or has the next
 *                      number, and its prev is not the hash of the first
 *              EXCESS  the first head again, if it exceeds a limit (head_is_within); or the next
 *                      head, if it claims fewer samples or too many more (head_samples_follow)
 *
 * The first rumor in doubt is that of the first head, with two exceptions. If both heads have the
 * same number and different prev, it is the rumor before. If the second head claims a wrong number
 * of samples, it is the rumor of the second head. Only signed bytes count, so a node that passes a
 * proof on can neither invent nor change it. Tests: tests/unit/net/test_equivocation_proof.c
 * refuses every truncation and bit flip.
 */
#ifndef HEARSAY_NET_WIRE_EQUIVOCATION_PROOF_H
#define HEARSAY_NET_WIRE_EQUIVOCATION_PROOF_H

#include "wire/signed_head.h"

#define PROOF_BYTES (2 * SIGNED_HEAD_BYTES)

enum proof_kind {
    PROOF_EQUIVOCATION, /* the member signed two different streams */
    PROOF_EXCESS,       /* a rumor of the member exceeds a limit */
    PROOF_VOTES         /* the proof has no heads: more than half of the members voted (vote.h) */
};

struct proof {
    enum proof_kind kind;
    uint8_t author[ID_BYTES]; /* the member that has signed the heads */
    uint64_t incarnation;
    uint32_t keep; /* number of the first rumor of `incarnation` in doubt */
};

/* Makes a proof from two heads in either order, or from one head given twice. Returns MISMATCH
 * if the heads prove nothing. */
enum error proof_create(const struct signed_head *one, const struct signed_head *other,
                        uint64_t parameters, uint8_t out[static PROOF_BYTES]) MUST_USE;

/* Parses a proof without checking its signatures. Returns MALFORMED if the bytes prove nothing. */
enum error proof_parse(const uint8_t in[static PROOF_BYTES],
                       const uint8_t context[static CONTEXT_BYTES], uint64_t parameters,
                       struct proof *proof) MUST_USE;

/* Checks the signatures of bytes that proof_parse accepted. Returns FORGED if one does not
 * verify. */
enum error proof_verify(const uint8_t in[static PROOF_BYTES],
                        const uint8_t context[static CONTEXT_BYTES]) MUST_USE;

/* Returns true if `proof` keeps fewer rumors than `than`, a proof against the same author. The
 * lower incarnation is stricter; if the incarnations are equal, the lower `keep`. */
bool proof_is_stricter(const struct proof *proof, const struct proof *than);

/* Returns how many rumors of this incarnation of the author are not in doubt; UINT32_MAX = all. */
uint32_t proof_keeps(const struct proof *proof, uint64_t incarnation);

#endif
