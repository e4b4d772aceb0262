/* Proofs that a member lies: which heads prove it, which rumors a proof keeps, and that proofs
 * cannot be forged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/net/stream.h"
#include "wire/equivocation_proof.h"

#define PARAMETERS 1000

static const uint8_t context[CONTEXT_BYTES] = {7};
static struct identity author, other;

static int start(void **state)
{
    (void)state;
    secret_start();
    const uint8_t one[SEED_BYTES] = {1}, two[SEED_BYTES] = {2};
    identity_from_seed(&author, one);
    identity_from_seed(&other, two);
    return 0;
}

/* Returns a head of one of the author's streams. Streams with different samples differ from the
 * first rumor on. */
static struct signed_head head_of(uint32_t seq, uint64_t samples)
{
    return stream_head(&author, 5, seq, samples, context);
}

static struct signed_head sign(struct signed_head head)
{
    signed_head_read(&head, head.bytes, context);
    secret_sign(head.bytes + HEAD_BYTES, author.sign_secret, head.hash, HEAD_HASH_BYTES);
    return head;
}

/* Returns a head with the predecessors of `head` and different content. */
static struct signed_head sibling_of(const struct signed_head *head)
{
    struct signed_head changed = *head;
    bytes_put(changed.bytes + HEAD_AMOUNT_AT, 77, 4);
    return sign(changed);
}

static struct proof must_prove(const struct signed_head *one, const struct signed_head *two)
{
    uint8_t bytes[PROOF_BYTES], turned[PROOF_BYTES];
    struct proof proof;
    assert_int_equal(proof_create(one, two, PARAMETERS, bytes), OK);
    assert_int_equal(proof_create(two, one, PARAMETERS, turned), OK);
    assert_memory_equal(bytes, turned, PROOF_BYTES);
    assert_int_equal(proof_parse(bytes, context, PARAMETERS, &proof), OK);
    assert_int_equal(proof_verify(bytes, context), OK);
    assert_memory_equal(proof.author, author.id, ID_BYTES);
    assert_true(proof.incarnation == 5);
    return proof;
}

static void equivocation_keeps_the_rumors_before_it(void **state)
{
    (void)state;
    const struct signed_head one = head_of(3, 9), two = sibling_of(&one);
    assert_int_equal(must_prove(&one, &two).keep, 3);
    const struct signed_head first = head_of(0, 9), twin = sibling_of(&first);
    assert_int_equal(must_prove(&first, &twin).keep, 0);
}

static void equivocation_in_the_predecessor_keeps_one_rumor_less(void **state)
{
    (void)state;
    const struct signed_head one = head_of(3, 9), two = head_of(3, 8);
    assert_int_equal(must_prove(&one, &two).keep, 2);
}

static void a_broken_chain_is_a_proof(void **state)
{
    (void)state;
    const struct signed_head one = head_of(3, 9), two = head_of(4, 8);
    assert_int_equal(must_prove(&one, &two).keep, 3);
}

static void heads_that_can_both_be_true_prove_nothing(void **state)
{
    (void)state;
    uint8_t bytes[PROOF_BYTES];
    const struct signed_head one = head_of(3, 9), next = head_of(4, 9), far = head_of(5, 8);
    const struct signed_head later = stream_head(&author, 6, 3, 8, context);
    const struct signed_head others = stream_head(&other, 5, 3, 8, context);
    assert_int_equal(proof_create(&one, &one, PARAMETERS, bytes), MISMATCH);
    assert_int_equal(proof_create(&one, &next, PARAMETERS, bytes), MISMATCH);
    assert_int_equal(proof_create(&one, &far, PARAMETERS, bytes), MISMATCH);
    assert_int_equal(proof_create(&one, &later, PARAMETERS, bytes), MISMATCH);
    assert_int_equal(proof_create(&one, &others, PARAMETERS, bytes), MISMATCH);
    struct signed_head again = one; /* the same head with another signature */
    again.bytes[HEAD_BYTES] ^= 1;
    assert_int_equal(proof_create(&one, &again, PARAMETERS, bytes), MISMATCH);
}

/* Returns a signed head of the author's stream with one field beyond its limit. */
static struct signed_head beyond(uint32_t seq, size_t at, uint64_t value, size_t bytes)
{
    struct signed_head head = head_of(seq, 9);
    bytes_put(head.bytes + HEAD_AMOUNT_AT, 1100, 4);
    head.bytes[HEAD_TOP_AT] = 100;
    bytes_put(head.bytes + HEAD_LENGTH_AT, 1000, 2);
    bytes_put(head.bytes + at, value, bytes);
    return sign(head);
}

/* With 1000 parameters an entry may move by 2^24 units, and all entries together by 2^26. */
static void a_head_that_moves_the_base_too_far_is_a_proof(void **state)
{
    (void)state;
    uint8_t bytes[PROOF_BYTES];
    const struct signed_head far[] = {beyond(3, HEAD_AMOUNT_AT, (1u << 24) / 100 + 1, 4),
                                      beyond(3, HEAD_LENGTH_AT, (1u << 26) / 1100 + 1, 2),
                                      beyond(3, HEAD_AMOUNT_AT, UINT32_MAX, 4)};
    for (size_t i = 0; i < sizeof far / sizeof far[0]; i++) {
        const struct proof proof = must_prove(&far[i], &far[i]);
        assert_int_equal(proof.kind, PROOF_EXCESS);
        assert_int_equal(proof.keep, 3);
    }
    const struct signed_head fits = beyond(3, HEAD_LENGTH_AT, (1u << 26) / 1100, 2);
    assert_int_equal(proof_create(&fits, &fits, PARAMETERS, bytes), MISMATCH);
}

static void a_larger_model_allows_larger_moves(void **state)
{
    (void)state;
    uint8_t bytes[PROOF_BYTES];
    const struct signed_head head = beyond(3, HEAD_LENGTH_AT, 32 * (1u << 21) / 1100, 2);
    assert_int_equal(proof_create(&head, &head, 31 * 31, bytes), OK);
    assert_int_equal(proof_create(&head, &head, 32 * 32, bytes), MISMATCH);
}

static void too_many_samples_in_a_first_head_are_a_proof(void **state)
{
    (void)state;
    uint8_t bytes[PROOF_BYTES];
    const struct signed_head most = head_of(0, HEAD_SAMPLES_STEP),
                             more = head_of(0, HEAD_SAMPLES_STEP + 1),
                             later = head_of(1, HEAD_SAMPLES_STEP + 1);
    assert_int_equal(proof_create(&most, &most, PARAMETERS, bytes), MISMATCH);
    assert_int_equal(must_prove(&more, &more).keep, 0);
    assert_int_equal(proof_create(&later, &later, PARAMETERS, bytes), MISMATCH);
}

/* Returns the head that follows `head` in its stream, with these samples. */
static struct signed_head following(const struct signed_head *head, uint64_t samples)
{
    struct signed_head next = *head;
    bytes_put(next.bytes + HEAD_SEQ_AT, signed_head_seq(head) + 1u, 4);
    bytes_put(next.bytes + HEAD_SAMPLES_AT, samples, HEAD_SAMPLES_BYTES);
    memcpy(next.bytes + HEAD_PREV_AT, head->hash, HEAD_HASH_BYTES);
    return sign(next);
}

static void too_many_samples_after_a_head_are_a_proof(void **state)
{
    (void)state;
    uint8_t bytes[PROOF_BYTES];
    const struct signed_head one = head_of(3, 1000);
    const uint64_t wrong[] = {999, 1001 + HEAD_SAMPLES_STEP, 0, (1ull << 48) - 1},
                   right[] = {1000, 1001, 1000 + HEAD_SAMPLES_STEP};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const struct signed_head two = following(&one, wrong[i]);
        const struct proof proof = must_prove(&one, &two);
        assert_int_equal(proof.kind, PROOF_EXCESS);
        assert_int_equal(proof.keep, 4);
    }
    for (size_t i = 0; i < sizeof right / sizeof right[0]; i++) {
        const struct signed_head two = following(&one, right[i]);
        assert_int_equal(proof_create(&one, &two, PARAMETERS, bytes), MISMATCH);
    }
}

static enum error check(const uint8_t bytes[static PROOF_BYTES])
{
    struct proof proof;
    const enum error error = proof_parse(bytes, context, PARAMETERS, &proof);
    return error == OK ? proof_verify(bytes, context) : error;
}

static void refuses_every_bit_flip(void **state)
{
    (void)state;
    const struct signed_head one = head_of(3, 9), far = beyond(3, HEAD_AMOUNT_AT, 1u << 24, 4);
    const struct signed_head pairs[][2] = {
        {one, head_of(3, 8)}, {one, head_of(4, 8)}, {far, far}, {one, following(&one, 8)}};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        uint8_t bytes[PROOF_BYTES];
        assert_int_equal(proof_create(&pairs[i][0], &pairs[i][1], PARAMETERS, bytes), OK);
        for (size_t bit = 0; bit < 8 * sizeof bytes; bit++) {
            bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
            assert_int_not_equal(check(bytes), OK);
            bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
        assert_int_equal(check(bytes), OK);
    }
}

static void heads_signed_by_others_prove_nothing(void **state)
{
    (void)state;
    uint8_t bytes[PROOF_BYTES];
    const struct signed_head one = head_of(3, 9), two = head_of(3, 8);
    struct signed_head forged = two;
    secret_sign(forged.bytes + HEAD_BYTES, other.sign_secret, forged.hash, HEAD_HASH_BYTES);
    assert_int_equal(proof_create(&one, &forged, PARAMETERS, bytes), OK);
    assert_int_equal(check(bytes), FORGED);
    memset(forged.bytes + HEAD_BYTES, 0, SIGNATURE_BYTES);
    assert_int_equal(proof_create(&one, &forged, PARAMETERS, bytes), OK);
    assert_int_equal(check(bytes), FORGED);
}

static void a_proof_is_invalid_in_another_swarm(void **state)
{
    (void)state;
    static const uint8_t elsewhere[CONTEXT_BYTES] = {8};
    uint8_t bytes[PROOF_BYTES];
    struct proof proof;
    const struct signed_head one = head_of(3, 9), two = sibling_of(&one);
    assert_int_equal(proof_create(&one, &two, PARAMETERS, bytes), OK);
    assert_int_equal(proof_parse(bytes, elsewhere, PARAMETERS, &proof), OK);
    assert_int_equal(proof_verify(bytes, elsewhere), FORGED);
}

static void swapped_heads_prove_nothing(void **state)
{
    (void)state;
    uint8_t bytes[PROOF_BYTES], turned[PROOF_BYTES];
    const struct signed_head one = head_of(3, 9), two = sibling_of(&one);
    assert_int_equal(proof_create(&one, &two, PARAMETERS, bytes), OK);
    memcpy(turned, bytes + SIGNED_HEAD_BYTES, SIGNED_HEAD_BYTES);
    memcpy(turned + SIGNED_HEAD_BYTES, bytes, SIGNED_HEAD_BYTES);
    assert_int_equal(check(turned), MALFORMED);
}

/* No rumor has such a head, so no node could have accepted it. */
static void a_first_head_with_a_predecessor_proves_nothing(void **state)
{
    (void)state;
    uint8_t bytes[PROOF_BYTES];
    const struct signed_head one = head_of(0, 9);
    struct signed_head two = one;
    two.bytes[HEAD_PREV_AT] = 1;
    two = sign(two);
    assert_int_equal(signed_head_verify(&two), MALFORMED);
    assert_int_equal(proof_create(&one, &two, PARAMETERS, bytes), OK);
    assert_int_equal(check(bytes), MALFORMED);
}

static void the_stricter_proof_counts(void **state)
{
    (void)state;
    const struct proof proof = {.incarnation = 5, .keep = 3}, less = {.incarnation = 5, .keep = 2},
                       older = {.incarnation = 4, .keep = 9};
    assert_int_equal(proof_keeps(&proof, 4), UINT32_MAX);
    assert_int_equal(proof_keeps(&proof, 5), 3);
    assert_int_equal(proof_keeps(&proof, 6), 0);
    assert_true(proof_is_stricter(&less, &proof) && !proof_is_stricter(&proof, &less));
    assert_true(proof_is_stricter(&older, &less) && !proof_is_stricter(&less, &older));
    assert_false(proof_is_stricter(&proof, &proof));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equivocation_keeps_the_rumors_before_it),
        cmocka_unit_test(equivocation_in_the_predecessor_keeps_one_rumor_less),
        cmocka_unit_test(a_broken_chain_is_a_proof),
        cmocka_unit_test(heads_that_can_both_be_true_prove_nothing),
        cmocka_unit_test(a_head_that_moves_the_base_too_far_is_a_proof),
        cmocka_unit_test(a_larger_model_allows_larger_moves),
        cmocka_unit_test(too_many_samples_in_a_first_head_are_a_proof),
        cmocka_unit_test(too_many_samples_after_a_head_are_a_proof),
        cmocka_unit_test(refuses_every_bit_flip),
        cmocka_unit_test(heads_signed_by_others_prove_nothing),
        cmocka_unit_test(a_proof_is_invalid_in_another_swarm),
        cmocka_unit_test(swapped_heads_prove_nothing),
        cmocka_unit_test(a_first_head_with_a_predecessor_proves_nothing),
        cmocka_unit_test(the_stricter_proof_counts),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
