/* Votes to expel a member: layout, signatures and strict parsing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "frame/bytes.h"
#include "wire/vote.h"

static const uint8_t context[CONTEXT_BYTES] = {1, 2, 3};

static struct identity identity_of(uint8_t number)
{
    const uint8_t seed[SEED_BYTES] = {number};
    struct identity identity;
    identity_from_seed(&identity, seed);
    return identity;
}

static struct vote sample(void)
{
    struct vote vote = {.incarnation = 1700000000123, .keep = 77};
    memcpy(vote.accused, identity_of(2).id, ID_BYTES);
    memcpy(vote.voter, identity_of(1).id, ID_BYTES);
    return vote;
}

static void make(uint8_t out[static VOTE_BYTES])
{
    const struct identity identity = identity_of(1);
    const struct vote vote = sample();
    vote_create(&vote, &identity, context, out);
}

static void a_vote_parses_as_it_was_made(void **state)
{
    (void)state;
    const struct vote made = sample();
    uint8_t bytes[VOTE_BYTES];
    struct vote got;
    make(bytes);
    assert_int_equal(vote_parse(bytes, &got), OK);
    assert_int_equal(vote_verify(bytes, context), OK);
    assert_memory_equal(got.accused, made.accused, ID_BYTES);
    assert_memory_equal(got.voter, made.voter, ID_BYTES);
    assert_true(got.incarnation == made.incarnation && got.keep == made.keep);
}

/* The layout is the table at the top of vote.h. */
static void the_bytes_have_the_documented_layout(void **state)
{
    (void)state;
    uint8_t bytes[VOTE_BYTES];
    make(bytes);
    assert_memory_equal(bytes, identity_of(2).id, ID_BYTES);
    assert_true(bytes_get(bytes + 32, 8) == 1700000000123);
    assert_true(bytes_get(bytes + 40, 4) == 77);
    assert_memory_equal(bytes + 44, identity_of(1).id, ID_BYTES);
}

static void refuses_every_bit_flip(void **state)
{
    (void)state;
    uint8_t bytes[VOTE_BYTES];
    struct vote vote;
    make(bytes);
    for (size_t bit = 0; bit < (size_t)8 * VOTE_BYTES; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        if (vote_parse(bytes, &vote) == OK)
            assert_int_equal(vote_verify(bytes, context), FORGED);
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    assert_int_equal(vote_verify(bytes, context), OK);
}

static void a_vote_is_invalid_in_another_swarm(void **state)
{
    (void)state;
    const uint8_t other[CONTEXT_BYTES] = {1, 2, 4};
    uint8_t bytes[VOTE_BYTES];
    make(bytes);
    assert_int_equal(vote_verify(bytes, other), FORGED);
}

static void refuses_votes_against_oneself_and_impossible_keeps(void **state)
{
    (void)state;
    uint8_t bytes[VOTE_BYTES];
    struct vote vote;
    make(bytes);
    memcpy(bytes + 44, bytes, ID_BYTES);
    assert_int_equal(vote_parse(bytes, &vote), MALFORMED);
    make(bytes);
    bytes_put(bytes + 40, (1u << 28) + 1, 4);
    assert_int_equal(vote_parse(bytes, &vote), MALFORMED);
}

static void orders_votes_by_how_much_they_keep(void **state)
{
    (void)state;
    const struct vote vote = sample();
    struct vote other = vote;
    assert_int_equal(vote_compare(&vote, &other), 0);
    other.keep++;
    assert_true(vote_compare(&vote, &other) < 0 && vote_compare(&other, &vote) > 0);
    other.incarnation--;
    assert_true(vote_compare(&vote, &other) > 0 && vote_compare(&other, &vote) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_vote_parses_as_it_was_made),
        cmocka_unit_test(the_bytes_have_the_documented_layout),
        cmocka_unit_test(refuses_every_bit_flip),
        cmocka_unit_test(a_vote_is_invalid_in_another_swarm),
        cmocka_unit_test(refuses_votes_against_oneself_and_impossible_keeps),
        cmocka_unit_test(orders_votes_by_how_much_they_keep),
    };
    secret_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
