/* The gate: encryption, refusals, and comparison of introductions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "crypto/gate.h"
#include "crypto/handshake.h"

static const uint8_t entropy_seed[SEED_BYTES] = {0x50};
static const uint8_t swarm_key[KEY_BYTES] = {0x60};
static const uint8_t message_1[HANDSHAKE_1_BYTES] = {0x70, 0x71};

static struct introduction introduction_as_usual(void)
{
    struct introduction introduction;
    introduction_make(&introduction, "swarm", "dense 10", 235146);
    return introduction;
}

static struct gate gate_as_usual(void)
{
    struct gate gate;
    struct introduction ours = introduction_as_usual();
    gate_init(&gate, swarm_key, &ours);
    return gate;
}

static void assert_same(const struct introduction *a, const struct introduction *b)
{
    uint8_t encoded[2][INTRODUCTION_BYTES];
    introduction_encode(encoded[0], a);
    introduction_encode(encoded[1], b);
    assert_memory_equal(encoded[0], encoded[1], INTRODUCTION_BYTES);
}

static void an_introduction_has_the_documented_layout(void **state)
{
    (void)state;
    static const uint8_t zeros[4];
    uint8_t bytes[INTRODUCTION_BYTES];
    uint8_t hash[16];
    struct introduction introduction = introduction_as_usual();
    introduction.protocol = 0x0201;
    introduction.offers = OFFERS_ANSWERS; /* only refusals carry this byte */
    introduction_encode(bytes, &introduction);
    assert_int_equal(bytes[0], 1);
    assert_int_equal(bytes[1], 2);
    assert_int_equal(bytes[2], 0);
    assert_int_equal(bytes[3], PROTOCOL_NEWEST - PROTOCOL_OLDEST);
    assert_memory_equal(bytes + 4, zeros, sizeof zeros);
    secret_blake2b(hash, sizeof hash, "swarm", 5, NULL, 0);
    assert_memory_equal(bytes + 8, hash, sizeof hash);
    secret_blake2b(hash, sizeof hash, "dense 10", 8, NULL, 0);
    assert_memory_equal(bytes + 24, hash, sizeof hash);
    assert_memory_equal(bytes + 40, "\x8A\x96\x03\x00\x00\x00\x00\x00", 8);
}

static void a_gate_opens_with_the_swarm_key(void **state)
{
    (void)state;
    uint8_t bytes[GATE_BYTES];
    struct gate gate = gate_as_usual();
    struct introduction theirs;
    gate_create(&gate, bytes, message_1, sizeof message_1);
    assert_int_equal(gate_consume(&gate, bytes, message_1, sizeof message_1, &theirs), OK);
    assert_same(&theirs, &gate.ours);
}

static void refuses_every_bit_flip_in_a_gate_or_its_message(void **state)
{
    (void)state;
    uint8_t bytes[GATE_BYTES + HANDSHAKE_1_BYTES];
    struct gate gate = gate_as_usual();
    struct introduction theirs;
    memcpy(bytes + GATE_BYTES, message_1, sizeof message_1);
    gate_create(&gate, bytes, bytes + GATE_BYTES, sizeof message_1);
    for (size_t bit = 0; bit < 8 * sizeof bytes; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_int_equal(gate_consume(&gate, bytes, bytes + GATE_BYTES, sizeof message_1, &theirs),
                         FORGED);
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    assert_int_equal(gate_consume(&gate, bytes, bytes + GATE_BYTES, sizeof message_1, &theirs), OK);
}

static void refuses_a_gate_with_a_shortened_message(void **state)
{
    (void)state;
    uint8_t bytes[GATE_BYTES];
    struct gate gate = gate_as_usual();
    struct introduction theirs;
    gate_create(&gate, bytes, message_1, sizeof message_1);
    assert_int_equal(gate_consume(&gate, bytes, message_1, sizeof message_1 - 1, &theirs), FORGED);
    assert_int_equal(gate_consume(&gate, bytes, message_1, WIDE_NONCE_BYTES - 1, &theirs),
                     MALFORMED);
}

static void refuses_a_gate_of_another_swarm_key(void **state)
{
    (void)state;
    static const uint8_t other_key[KEY_BYTES] = {0x61};
    uint8_t bytes[GATE_BYTES];
    uint8_t refusal[REFUSAL_BYTES];
    struct entropy entropy;
    struct gate gate = gate_as_usual();
    struct gate other;
    struct introduction theirs;
    entropy_from_seed(&entropy, entropy_seed);
    gate_init(&other, other_key, &gate.ours);
    gate_create(&other, bytes, message_1, sizeof message_1);
    assert_int_equal(gate_consume(&gate, bytes, message_1, sizeof message_1, &theirs), FORGED);
    refusal_create(&other, &entropy, message_1, refusal);
    assert_int_equal(refusal_consume(&gate, refusal, message_1, &theirs), FORGED);
}

static void only_refusals_carry_offers(void **state)
{
    (void)state;
    uint8_t refusal[REFUSAL_BYTES], bytes[GATE_BYTES];
    struct entropy entropy;
    struct gate gate = gate_as_usual();
    struct introduction theirs;
    entropy_from_seed(&entropy, entropy_seed);
    refusal_create(&gate, &entropy, message_1, refusal);
    assert_int_equal(refusal_consume(&gate, refusal, message_1, &theirs), OK);
    assert_int_equal(theirs.offers, 0); /* as from a release without offers */
    gate.ours.offers = OFFERS_ANSWERS;
    refusal_create(&gate, &entropy, message_1, refusal);
    assert_int_equal(refusal_consume(&gate, refusal, message_1, &theirs), OK);
    assert_int_equal(theirs.offers, OFFERS_ANSWERS);
    assert_same(&theirs, &gate.ours);
    gate_create(&gate, bytes, message_1, sizeof message_1);
    assert_int_equal(gate_consume(&gate, bytes, message_1, sizeof message_1, &theirs), OK);
    assert_int_equal(theirs.offers, 0);
}

static void gates_and_refusals_carry_form_and_standing(void **state)
{
    (void)state;
    uint8_t refusal[REFUSAL_BYTES], bytes[GATE_BYTES];
    struct entropy entropy;
    struct gate gate = gate_as_usual();
    struct introduction theirs;
    entropy_from_seed(&entropy, entropy_seed);
    gate.ours.standing = STANDING_MAX;
    gate_create(&gate, bytes, message_1, sizeof message_1);
    assert_int_equal(gate_consume(&gate, bytes, message_1, sizeof message_1, &theirs), OK);
    assert_int_equal(theirs.standing, STANDING_MAX);
    assert_memory_equal(theirs.form, gate.ours.form, FORM_BYTES);
    refusal_create(&gate, &entropy, message_1, refusal);
    assert_int_equal(refusal_consume(&gate, refusal, message_1, &theirs), OK);
    assert_int_equal(theirs.standing, STANDING_MAX);
    gate.ours.newer = 0; /* as from the previous release, or in a version probe */
    gate_create(&gate, bytes, message_1, sizeof message_1);
    assert_int_equal(gate_consume(&gate, bytes, message_1, sizeof message_1, &theirs), OK);
    assert_int_equal(theirs.standing, 0);
    assert_memory_not_equal(theirs.form, gate.ours.form, FORM_BYTES);
}

static void the_parts_open_for_their_call_only(void **state)
{
    (void)state;
    static const char parts[] = "0.weight [64, 20]";
    uint8_t bytes[sizeof parts + PARTS_ADD], out[sizeof parts], call[sizeof message_1];
    struct entropy entropy;
    struct gate gate = gate_as_usual();
    entropy_from_seed(&entropy, entropy_seed);
    parts_create(&gate, &entropy, message_1, parts, sizeof parts, bytes);
    assert_int_equal(parts_consume(&gate, bytes, sizeof bytes, message_1, out), OK);
    assert_memory_equal(out, parts, sizeof parts);
    for (size_t bit = 0; bit < 8 * sizeof bytes; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_int_equal(parts_consume(&gate, bytes, sizeof bytes, message_1, out), FORGED);
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    for (size_t size = 0; size < sizeof bytes; size++)
        assert_true(parts_consume(&gate, bytes, size, message_1, out) != OK);
    memcpy(call, message_1, sizeof call);
    call[0] ^= 1;
    assert_int_equal(parts_consume(&gate, bytes, sizeof bytes, call, out), FORGED);
}

static void a_refusal_opens_and_every_bit_flip_in_it_is_refused(void **state)
{
    (void)state;
    uint8_t bytes[REFUSAL_BYTES];
    uint8_t again[REFUSAL_BYTES];
    struct entropy entropy;
    struct gate gate = gate_as_usual();
    struct introduction theirs;
    entropy_from_seed(&entropy, entropy_seed);
    refusal_create(&gate, &entropy, message_1, bytes);
    refusal_create(&gate, &entropy, message_1, again);
    assert_memory_not_equal(bytes, again, WIDE_NONCE_BYTES);
    assert_int_equal(refusal_consume(&gate, bytes, message_1, &theirs), OK);
    assert_same(&theirs, &gate.ours);
    uint8_t other_call[sizeof message_1];
    memcpy(other_call, message_1, sizeof other_call);
    other_call[0] ^= 1;
    assert_int_equal(refusal_consume(&gate, bytes, other_call, &theirs), FORGED);
    for (size_t bit = 0; bit < 8 * sizeof bytes; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_int_equal(refusal_consume(&gate, bytes, message_1, &theirs), FORGED);
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
}

static void describes_a_difference_in_one_sentence(void **state)
{
    (void)state;
    struct problem problem;
    struct introduction ours = introduction_as_usual();
    struct introduction theirs = ours;
    assert_int_equal(introduction_compare(&ours, &theirs, &problem), OK);

    introduction_make(&theirs, "swarm", "dense 11", 1215370);
    assert_int_equal(introduction_compare(&ours, &theirs, &problem), MISMATCH);
    assert_string_equal(problem.text, "other model: theirs has 1,215,370 parameters, ours 235,146");
    introduction_make(&theirs, "swarm", "dense 11", 999);
    assert_int_equal(introduction_compare(&ours, &theirs, &problem), MISMATCH);
    assert_string_equal(problem.text, "other model: theirs has 999 parameters, ours 235,146");

    introduction_make(&theirs, "swarm", "dense 11", 235146);
    assert_int_equal(introduction_compare(&ours, &theirs, &problem), MISMATCH);
    assert_string_equal(
        problem.text, "other model: as many parameters as ours, but another layer, input or task");
    assert_true(introduction_has_other_form(&ours, &theirs));

    introduction_make(&theirs, "swarm", "dense 10; seed 2", 235146);
    assert_true(introduction_same_form(&ours, &theirs));
    assert_int_equal(introduction_compare(&ours, &theirs, &problem), MISMATCH);
    assert_string_equal(problem.text, "other first weights than ours");
    memset(theirs.form, 0, sizeof theirs.form); /* the previous release sends no form */
    assert_false(introduction_same_form(&ours, &theirs));
    assert_false(introduction_has_other_form(&ours, &theirs));
    assert_int_equal(introduction_compare(&ours, &theirs, &problem), MISMATCH);
    assert_non_null(strstr(problem.text, "its release can take over no first weights"));

    introduction_make(&theirs, "swarn", "dense 11", 215370);
    assert_int_equal(introduction_compare(&ours, &theirs, &problem), MISMATCH);
    assert_string_equal(problem.text, "other swarm id: the swarm key is the same, the name in "
                                      "the configuration is not");

    theirs.protocol = 7;
    ours.protocol = 3;
    ours.newer = theirs.newer = 0;
    assert_int_equal(introduction_compare(&ours, &theirs, &problem), MISMATCH);
    assert_string_equal(problem.text, "other protocol version: theirs is 7, ours 3");
    ours.newer = 1;
    theirs.newer = 2;
    assert_int_equal(introduction_compare(&ours, &theirs, &problem), MISMATCH);
    assert_string_equal(problem.text, "other protocol version: theirs is 7 to 9, ours 3 to 4");
}

static uint16_t common(uint16_t ours, uint8_t newer, uint16_t theirs, uint8_t theirs_newer)
{
    struct introduction a = introduction_as_usual(), b = a;
    a.protocol = ours;
    a.newer = newer;
    b.protocol = theirs;
    b.newer = theirs_newer;
    return introduction_common(&a, &b);
}

static void chooses_the_newest_common_version(void **state)
{
    (void)state;
    assert_int_equal(common(11, 1, 11, 1), 12);
    assert_int_equal(common(11, 1, 11, 0), 11);
    assert_int_equal(common(11, 0, 11, 1), 11);
    assert_int_equal(common(11, 1, 12, 1), 12);
    assert_int_equal(common(12, 1, 11, 1), 12);
    assert_int_equal(common(11, 1, 10, 0), PROTOCOL_PROBE); /* two releases apart */
    assert_int_equal(common(11, 1, 13, 1), PROTOCOL_PROBE);
    assert_int_equal(common(11, 1, UINT16_MAX, UINT8_MAX), PROTOCOL_PROBE);
    assert_int_equal(common(11, 1, PROTOCOL_PROBE, UINT8_MAX), PROTOCOL_PROBE);
}

static void context_and_prologue_match_builds_of_one_version(void **state)
{
    (void)state;
    uint8_t context[CONTEXT_BYTES], as_before[CONTEXT_BYTES];
    uint8_t prologue[INTRODUCTION_BYTES], bytes[INTRODUCTION_BYTES];
    struct introduction introduction = introduction_as_usual();
    introduction_context(context, &introduction);
    introduction_prologue(prologue, &introduction, 11);
    introduction.protocol = 11;
    introduction.newer = 0;
    introduction_encode(bytes, &introduction);
    assert_memory_equal(prologue, bytes, sizeof bytes);
    secret_blake2b(as_before, sizeof as_before, bytes, sizeof bytes, NULL, 0);
    assert_memory_equal(context, as_before, sizeof context);
}

int main(void)
{
    secret_start();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_introduction_has_the_documented_layout),
        cmocka_unit_test(a_gate_opens_with_the_swarm_key),
        cmocka_unit_test(refuses_every_bit_flip_in_a_gate_or_its_message),
        cmocka_unit_test(refuses_a_gate_with_a_shortened_message),
        cmocka_unit_test(refuses_a_gate_of_another_swarm_key),
        cmocka_unit_test(only_refusals_carry_offers),
        cmocka_unit_test(gates_and_refusals_carry_form_and_standing),
        cmocka_unit_test(the_parts_open_for_their_call_only),
        cmocka_unit_test(a_refusal_opens_and_every_bit_flip_in_it_is_refused),
        cmocka_unit_test(describes_a_difference_in_one_sentence),
        cmocka_unit_test(chooses_the_newest_common_version),
        cmocka_unit_test(context_and_prologue_match_builds_of_one_version),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
