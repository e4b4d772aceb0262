/* A vote: a member signs that another one publishes harmful rumors, and from which number on.
 *
 *   OFFSET SIZE MEANING                                        (numbers little-endian; 140 bytes)
 *        0   32 accused: the id of the member
 *       32    8 incarnation of the accused
 *       40    4 keep: its rumors of that incarnation before this number, and those of earlier
 *               incarnations, may stay; the others go
 *       44   32 voter: the id of the voting member, not the accused
 *       76   64 Ed25519 signature of the voter over "hearsay vote" ‖ context ‖ bytes 0 .. 76
 *
 * A vote has no effect until more than half of the members have voted (node/orders/quorum_votes.h).
 * Tests: tests/unit/net/test_vote.c refuses every bit flip.
 */
#ifndef HEARSAY_NET_WIRE_VOTE_H
#define HEARSAY_NET_WIRE_VOTE_H

#include "crypto/identity.h"
#include "wire/rumor.h"

#define VOTE_BYTES 140

struct vote {
    uint8_t accused[ID_BYTES];
    uint64_t incarnation;
    uint32_t keep; /* rumors of `incarnation` before this number may stay */
    uint8_t voter[ID_BYTES];
};

/* vote->voter must be the id of `identity`, and not the accused. */
void vote_create(const struct vote *vote, const struct identity *identity,
                 const uint8_t context[static CONTEXT_BYTES], uint8_t out[static VOTE_BYTES]);

/* Does not check the signature. Returns MALFORMED if the voter is the accused, or `keep` exceeds
 * 2^28, the largest number of rumors of one incarnation. */
enum error vote_parse(const uint8_t in[static VOTE_BYTES], struct vote *vote) MUST_USE;

/* Checks only the signature. Returns FORGED if it does not verify. */
enum error vote_verify(const uint8_t in[static VOTE_BYTES],
                       const uint8_t context[static CONTEXT_BYTES]) MUST_USE;

/* Compares two votes against one accused: negative if the first keeps fewer rumors, 0 if both keep
 * the same, positive otherwise. */
int vote_compare(const struct vote *one, const struct vote *other);

#endif
