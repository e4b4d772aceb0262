/* The cryptographic primitives: published values, and inputs that must be rejected. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "crypto/secret.h"
#include "support/base/hex.h"

static void assert_hex(const uint8_t *bytes, const char *expected)
{
    uint8_t wanted[64];
    size_t count = hex_bytes(wanted, sizeof wanted, expected);
    assert_memory_equal(bytes, wanted, count);
}

static void blake2b_gives_the_value_of_rfc_7693(void **state)
{
    (void)state;
    uint8_t out[64];
    secret_blake2b(out, 64, "abc", 3, NULL, 0);
    assert_hex(out, "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1"
                    "7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923");
}

static void blake2b_depends_on_its_key_and_its_length(void **state)
{
    (void)state;
    static const uint8_t key[KEY_BYTES] = {1};
    uint8_t plain[32];
    uint8_t keyed[32];
    uint8_t longer[64];
    secret_blake2b(plain, 32, "abc", 3, NULL, 0);
    secret_blake2b(keyed, 32, "abc", 3, key, sizeof key);
    secret_blake2b(longer, 64, "abc", 3, NULL, 0);
    assert_memory_not_equal(plain, keyed, 32);
    assert_memory_not_equal(plain, longer, 32);
}

static void sha256_gives_the_value_of_fips_180_for_both_parts_together(void **state)
{
    (void)state;
    static const char abc[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    uint8_t out[HASH_BYTES];
    secret_sha256(out, "abc", 3, NULL, 0);
    assert_hex(out, abc);
    secret_sha256(out, "a", 1, "bc", 2);
    assert_hex(out, abc);
}

static void hmac_gives_the_value_of_rfc_4231(void **state)
{
    (void)state;
    /* Case 2. HMAC pads keys with zeros, so these 32 bytes equal the case's four-byte key. */
    static const uint8_t key[HASH_BYTES] = "Jefe";
    uint8_t out[HASH_BYTES];
    secret_hmac(out, key, "what do ya want ", 16, "for nothing?", 12);
    assert_hex(out, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

static void dh_gives_the_value_of_rfc_7748(void **state)
{
    (void)state;
    uint8_t alice[DH_BYTES];
    uint8_t bob[DH_BYTES];
    uint8_t alice_public[DH_BYTES];
    uint8_t bob_public[DH_BYTES];
    uint8_t shared[DH_BYTES];
    static const char expected[] =
        "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742";
    hex_bytes(alice, sizeof alice,
              "77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a");
    hex_bytes(bob, sizeof bob, "5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb");
    secret_dh_public(alice_public, alice);
    secret_dh_public(bob_public, bob);
    assert_hex(alice_public, "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a");
    assert_hex(bob_public, "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f");
    assert_int_equal(secret_dh(shared, alice, bob_public), OK);
    assert_hex(shared, expected);
    assert_int_equal(secret_dh(shared, bob, alice_public), OK);
    assert_hex(shared, expected);
}

static void dh_refuses_every_low_order_point_and_writes_nothing(void **state)
{
    (void)state;
    static const char *const points[] = {
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
        "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"};
    static const uint8_t secret[DH_BYTES] = {9, 8, 7};
    static const uint8_t untouched[DH_BYTES] = {42};
    for (size_t i = 0; i < sizeof points / sizeof points[0]; i++) {
        uint8_t point[DH_BYTES];
        uint8_t shared[DH_BYTES] = {42};
        hex_bytes(point, sizeof point, points[i]);
        assert_int_equal(secret_dh(shared, secret, point), FORGED);
        assert_memory_equal(shared, untouched, DH_BYTES);
    }
}

static void a_sealed_message_opens_only_with_its_key_counter_and_associated_data(void **state)
{
    (void)state;
    uint8_t key[KEY_BYTES] = {1};
    uint8_t sealed[5 + TAG_BYTES];
    uint8_t opened[5];
    secret_seal(sealed, key, 7, "ad", 2, (const uint8_t *)"hello", 5);
    assert_int_equal(secret_open(opened, key, 7, "ad", 2, sealed, sizeof sealed), OK);
    assert_memory_equal(opened, "hello", 5);
    assert_int_equal(secret_open(opened, key, 8, "ad", 2, sealed, sizeof sealed), FORGED);
    assert_int_equal(
        secret_open(opened, key, 7 + (UINT64_C(1) << 32), "ad", 2, sealed, sizeof sealed), FORGED);
    assert_int_equal(secret_open(opened, key, 7, "aD", 2, sealed, sizeof sealed), FORGED);
    assert_int_equal(secret_open(opened, key, 7, "ad", 2, sealed, TAG_BYTES - 1), FORGED);
    key[31] = 1;
    assert_int_equal(secret_open(opened, key, 7, "ad", 2, sealed, sizeof sealed), FORGED);
}

static void sealing_in_place_gives_the_same_bytes(void **state)
{
    (void)state;
    static const uint8_t key[KEY_BYTES] = {1};
    uint8_t apart[5 + TAG_BYTES];
    uint8_t in_place[5 + TAG_BYTES] = "hello";
    secret_seal(apart, key, 0, NULL, 0, (const uint8_t *)"hello", 5);
    secret_seal(in_place, key, 0, NULL, 0, in_place, 5);
    assert_memory_equal(apart, in_place, sizeof apart);
    assert_int_equal(secret_open(in_place, key, 0, NULL, 0, in_place, sizeof in_place), OK);
    assert_memory_equal(in_place, "hello", 5);
}

static void a_wide_sealed_message_opens_only_with_its_whole_nonce(void **state)
{
    (void)state;
    static const uint8_t key[KEY_BYTES] = {1};
    uint8_t nonce[WIDE_NONCE_BYTES] = {2};
    uint8_t sealed[5 + TAG_BYTES];
    uint8_t opened[5];
    secret_seal_wide(sealed, key, nonce, "ad", 2, (const uint8_t *)"hello", 5);
    assert_int_equal(secret_open_wide(opened, key, nonce, "ad", 2, sealed, sizeof sealed), OK);
    assert_memory_equal(opened, "hello", 5);
    for (size_t i = 0; i < WIDE_NONCE_BYTES; i++) {
        nonce[i] ^= 1;
        assert_int_equal(secret_open_wide(opened, key, nonce, "ad", 2, sealed, sizeof sealed),
                         FORGED);
        nonce[i] ^= 1;
    }
}

static void a_signature_has_the_value_of_rfc_8032_and_holds_for_its_message_only(void **state)
{
    (void)state;
    uint8_t seed[SEED_BYTES];
    uint8_t public_key[SIGN_PUBLIC_BYTES];
    uint8_t secret[SIGN_SECRET_BYTES];
    uint8_t signature[SIGNATURE_BYTES];
    hex_bytes(seed, sizeof seed,
              "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb");
    secret_sign_keys(public_key, secret, seed);
    assert_hex(public_key, "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c");
    secret_sign(signature, secret, "\x72", 1);
    assert_hex(signature, "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
                          "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00");
    assert_int_equal(secret_verify(signature, public_key, "\x72", 1), OK);
    assert_int_equal(secret_verify(signature, public_key, "\x73", 1), FORGED);
    signature[63] ^= 0x10;
    assert_int_equal(secret_verify(signature, public_key, "\x72", 1), FORGED);
}

static void entropy_from_one_seed_is_one_stream_and_never_repeats(void **state)
{
    (void)state;
    static const uint8_t seed[SEED_BYTES] = {3};
    struct entropy a;
    struct entropy b;
    uint8_t whole[192];
    uint8_t parts[192];
    entropy_from_seed(&a, seed);
    entropy_from_seed(&b, seed);
    entropy_bytes(&a, whole, sizeof whole);
    entropy_bytes(&b, parts, 64);
    entropy_bytes(&b, parts + 64, 1); /* consumes a whole block */
    entropy_bytes(&b, parts + 128, 64);
    assert_memory_equal(whole, parts, 65);
    assert_memory_equal(whole + 128, parts + 128, 64);
    assert_memory_not_equal(whole, whole + 64, 64);
    assert_memory_not_equal(whole + 64, whole + 128, 64);
}

static void entropy_from_the_system_differs_each_time(void **state)
{
    (void)state;
    struct entropy a;
    struct entropy b;
    uint8_t from_a[32];
    uint8_t from_b[32];
    entropy_from_system(&a);
    entropy_from_system(&b);
    entropy_bytes(&a, from_a, sizeof from_a);
    entropy_bytes(&b, from_b, sizeof from_b);
    assert_memory_not_equal(from_a, from_b, sizeof from_a);
}

static void wiped_memory_is_zero(void **state)
{
    (void)state;
    static const uint8_t zero[32];
    uint8_t memory[32];
    memset(memory, 0xAA, sizeof memory);
    secret_wipe(memory, sizeof memory);
    assert_memory_equal(memory, zero, sizeof memory);
}

int main(void)
{
    secret_start();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blake2b_gives_the_value_of_rfc_7693),
        cmocka_unit_test(blake2b_depends_on_its_key_and_its_length),
        cmocka_unit_test(sha256_gives_the_value_of_fips_180_for_both_parts_together),
        cmocka_unit_test(hmac_gives_the_value_of_rfc_4231),
        cmocka_unit_test(dh_gives_the_value_of_rfc_7748),
        cmocka_unit_test(dh_refuses_every_low_order_point_and_writes_nothing),
        cmocka_unit_test(a_sealed_message_opens_only_with_its_key_counter_and_associated_data),
        cmocka_unit_test(sealing_in_place_gives_the_same_bytes),
        cmocka_unit_test(a_wide_sealed_message_opens_only_with_its_whole_nonce),
        cmocka_unit_test(a_signature_has_the_value_of_rfc_8032_and_holds_for_its_message_only),
        cmocka_unit_test(entropy_from_one_seed_is_one_stream_and_never_repeats),
        cmocka_unit_test(entropy_from_the_system_differs_each_time),
        cmocka_unit_test(wiped_memory_is_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
