/* Votes, one after the other: an accepted vote is encoded again as equal bytes, and any two votes
 * against one member compare like their incarnations and numbers. */
#include "fuzz/believe.h"
#include "fuzz/fuzz.h"
#include "wire/vote.h"

#define INCARNATION_AT 32
#define KEEP_AT        40
#define VOTER_AT       44
#define SIGNATURE_AT   76
#define KEEP_MAX       (1u << 28)

static const uint8_t context[CONTEXT_BYTES] = {7};
static struct identity identity;

void fuzz_begin(void)
{
    const uint8_t seed[SEED_BYTES] = {1};
    secret_start();
    identity_from_seed(&identity, seed);
    believe_signatures();
}

/* Checks that the vote is encoded again as equal bytes, except for the signature: the harness lacks
 * the voter's key. */
static void comes_back(const uint8_t in[static VOTE_BYTES], const struct vote *vote)
{
    struct identity voter = identity;
    uint8_t out[VOTE_BYTES];
    memcpy(voter.id, vote->voter, ID_BYTES);
    vote_create(vote, &voter, context, out);
    CHECK(memcmp(in, out, SIGNATURE_AT) == 0);
}

static int sign_of(int number)
{
    return (number > 0) - (number < 0);
}

static void compare(const struct vote *one, struct vote other)
{
    int expected = one->incarnation < other.incarnation ? -1 : one->incarnation > other.incarnation;
    if (expected == 0)
        expected = one->keep < other.keep ? -1 : one->keep > other.keep;
    memcpy(other.accused, one->accused, ID_BYTES);
    CHECK(sign_of(vote_compare(one, &other)) == expected);
    CHECK(sign_of(vote_compare(&other, one)) == -expected);
}

static void take(const uint8_t in[static VOTE_BYTES], struct vote *before)
{
    struct vote vote;
    const enum error error = vote_parse(in, &vote);
    const bool is_vote =
        memcmp(in, in + VOTER_AT, ID_BYTES) != 0 && bytes_get(in + KEEP_AT, 4) <= KEEP_MAX;
    CHECK((error == OK) == is_vote);
    if (error != OK)
        return;
    CHECK(memcmp(vote.accused, in, ID_BYTES) == 0);
    CHECK(vote.incarnation == bytes_get(in + INCARNATION_AT, 8));
    CHECK(vote.keep == bytes_get(in + KEEP_AT, 4));
    CHECK(memcmp(vote.voter, in + VOTER_AT, ID_BYTES) == 0);
    CHECK(vote_verify(in, context) == OK);
    comes_back(in, &vote);
    compare(&vote, *before);
    *before = vote;
}

void fuzz_one(const uint8_t *data, size_t bytes)
{
    struct vote before = {.keep = 0};
    for (; bytes >= VOTE_BYTES; data += VOTE_BYTES, bytes -= VOTE_BYTES)
        take(data, &before);
}
