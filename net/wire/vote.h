/* A vote: a member signs that what another one publishes harms, and from where on it should go.
 *
 *   OFFSET SIZE MEANING                                        (numbers little-endian; 140 bytes)
 *        0   32 accused: the id of the member
 *       32    8 incarnation of it
 *       40    4 keep: the rumors of that incarnation before this one may stay, and those of earlier
 *               incarnations; the others go
 *       44   32 voter: the id of who votes, another one
 *       76   64 Ed25519 signature of the voter over "hearsay vote" ‖ context ‖ bytes 0 .. 76
 *
 * A vote alone does nothing; more than half of the members' do (node/orders/votes.h).
 * Held by tests/unit/net/test_vote.c: every bit flip is refused.
 */
#ifndef HEARSAY_NET_WIRE_VOTE_H
#define HEARSAY_NET_WIRE_VOTE_H

#include "crypto/identity.h"
#include "wire/rumor.h"

#define VOTE_BYTES 140

struct vote {
    uint8_t accused[ID_BYTES]; /* who harms */
    uint64_t incarnation;      /* of it */
    uint32_t keep;             /* the rumors of that incarnation before this one may stay */
    uint8_t voter[ID_BYTES];   /* who says so */
};

/* Writes and signs it; the voter must be that identity, and somebody else than the accused. */
void vote_create(const struct vote *vote, const struct identity *identity,
                 const uint8_t context[static CONTEXT_BYTES], uint8_t out[static VOTE_BYTES]);

/* Reads the fields, without a look at the signature. MALFORMED: somebody votes against itself, or
 * keeps more rumors than there can be. */
enum error vote_parse(const uint8_t in[static VOTE_BYTES], struct vote *vote) MUST_USE;

/* Checks the signature alone. FORGED: it does not hold. */
enum error vote_verify(const uint8_t in[static VOTE_BYTES],
                       const uint8_t context[static CONTEXT_BYTES]) MUST_USE;

/* Less than, equal to or greater than 0: the first leaves less, as much, or more than the second
 * of the same accused. */
int vote_compare(const struct vote *one, const struct vote *other);

#endif
