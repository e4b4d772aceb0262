#include "wire/vote.h"

#include <string.h>

#include "base/error.h"
#include "frame/bytes.h"

#define INCARNATION_AT 32
#define KEEP_AT        40
#define VOTER_AT       44
#define SIGNED_BYTES   (VOTE_BYTES - SIGNATURE_BYTES)
#define KEEP_MAX       (1u << 28) /* largest number of rumors of one incarnation */
#define LABEL          "hearsay vote"
#define LABEL_BYTES    (sizeof LABEL - 1)
#define MESSAGE_BYTES  (LABEL_BYTES + CONTEXT_BYTES + SIGNED_BYTES)

_Static_assert(VOTER_AT + ID_BYTES == SIGNED_BYTES, "nothing lies between voter and signature");

static void signed_part(uint8_t out[static MESSAGE_BYTES],
                        const uint8_t context[static CONTEXT_BYTES], const uint8_t *in)
{
    memcpy(out, LABEL, LABEL_BYTES);
    memcpy(out + LABEL_BYTES, context, CONTEXT_BYTES);
    memcpy(out + LABEL_BYTES + CONTEXT_BYTES, in, SIGNED_BYTES);
}

void vote_create(const struct vote *vote, const struct identity *identity,
                 const uint8_t context[static CONTEXT_BYTES], uint8_t out[static VOTE_BYTES])
{
    uint8_t message[MESSAGE_BYTES];
    CHECK(memcmp(vote->voter, identity->id, ID_BYTES) == 0);
    CHECK(memcmp(vote->voter, vote->accused, ID_BYTES) != 0 && vote->keep <= KEEP_MAX);
    memcpy(out, vote->accused, ID_BYTES);
    bytes_put(out + INCARNATION_AT, vote->incarnation, 8);
    bytes_put(out + KEEP_AT, vote->keep, 4);
    memcpy(out + VOTER_AT, vote->voter, ID_BYTES);
    signed_part(message, context, out);
    secret_sign(out + SIGNED_BYTES, identity->sign_secret, message, sizeof message);
}

enum error vote_parse(const uint8_t in[static VOTE_BYTES], struct vote *vote)
{
    struct vote read = {.incarnation = bytes_get(in + INCARNATION_AT, 8),
                        .keep = (uint32_t)bytes_get(in + KEEP_AT, 4)};
    memcpy(read.accused, in, ID_BYTES);
    memcpy(read.voter, in + VOTER_AT, ID_BYTES);
    if (memcmp(read.accused, read.voter, ID_BYTES) == 0 || read.keep > KEEP_MAX)
        return MALFORMED;
    *vote = read;
    return OK;
}

enum error vote_verify(const uint8_t in[static VOTE_BYTES],
                       const uint8_t context[static CONTEXT_BYTES])
{
    uint8_t message[MESSAGE_BYTES];
    signed_part(message, context, in);
    return secret_verify(in + SIGNED_BYTES, in + VOTER_AT, message, sizeof message);
}

int vote_compare(const struct vote *one, const struct vote *other)
{
    CHECK(memcmp(one->accused, other->accused, ID_BYTES) == 0);
    if (one->incarnation != other->incarnation)
        return one->incarnation < other->incarnation ? -1 : 1;
    return one->keep == other->keep ? 0 : one->keep < other->keep ? -1 : 1;
}
