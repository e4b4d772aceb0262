/* Member records: layout, signatures and strict parsing. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "frame/bytes.h"
#include "wire/record.h"

static const uint8_t context[CONTEXT_BYTES] = {1, 2, 3};

static struct identity identity_of(uint8_t number)
{
    const uint8_t seed[SEED_BYTES] = {number};
    struct identity identity;
    identity_from_seed(&identity, seed);
    return identity;
}

static struct record sample(const struct identity *identity)
{
    struct record record = {
        .incarnation = 1700000000123,
        .stamp = UINT64_MAX,
        .samples = 1ull << 40,
        .digest = 0x0123456789abcdef,
        .samples_per_second = 1234.5f,
        .swarm_samples = 1ull << 50,
        .renew_ms = RENEW_MS_MAX,
        .stage = STAGE_SETTLED,
        .trains = true,
        .address = {.host = "2001:db8::7", .port = 7770},
    };
    memcpy(record.id, identity->id, ID_BYTES);
    return record;
}

static void make(uint8_t out[static RECORD_BYTES])
{
    const struct identity identity = identity_of(1);
    const struct record record = sample(&identity);
    record_create(&record, &identity, context, out);
}

static void a_record_parses_as_it_was_made(void **state)
{
    (void)state;
    const struct identity identity = identity_of(1);
    const struct record made = sample(&identity);
    uint8_t bytes[RECORD_BYTES];
    struct record got;
    record_create(&made, &identity, context, bytes);
    assert_int_equal(record_parse(bytes, &got), OK);
    assert_int_equal(record_verify(bytes, context), OK);
    assert_memory_equal(got.id, made.id, ID_BYTES);
    assert_true(got.incarnation == made.incarnation && got.stamp == made.stamp);
    assert_true(got.samples == made.samples && got.digest == made.digest);
    assert_true(got.samples_per_second == made.samples_per_second);
    assert_true(got.swarm_samples == made.swarm_samples);
    assert_true(got.renew_ms == made.renew_ms);
    assert_true(got.stage == made.stage && got.trains == made.trains);
    assert_true(address_equal(&got.address, &made.address));
}

/* The layout is the table at the top of record.h. */
static void the_bytes_have_the_documented_layout(void **state)
{
    (void)state;
    uint8_t bytes[RECORD_BYTES];
    make(bytes);
    assert_true(bytes_get(bytes + 32, 8) == 1700000000123);
    assert_true(bytes_get(bytes + 40, 8) == UINT64_MAX);
    assert_true(bytes_get(bytes + 48, 8) == 1ull << 40);
    assert_true(bytes_get(bytes + 56, 8) == 0x0123456789abcdef);
    assert_true(bytes_get_float(bytes + 64) == 1234.5f);
    assert_true(bytes_get(bytes + 68, 4) == RENEW_MS_MAX && bytes_get(bytes + 72, 2) == 7770);
    assert_int_equal(bytes[74], STAGE_SETTLED);
    assert_int_equal(bytes[75], 1);
    static const char host[64] = "2001:db8::7";
    assert_true(bytes_get(bytes + 88, 8) == 1ull << 50);
    assert_memory_equal(bytes + 96, host, sizeof host);
}

static void a_node_that_only_dials_has_no_address(void **state)
{
    (void)state;
    const struct identity identity = identity_of(1);
    struct record record = sample(&identity);
    record.address = (struct address){0};
    record.trains = false;
    uint8_t bytes[RECORD_BYTES];
    record_create(&record, &identity, context, bytes);
    assert_int_equal(record_parse(bytes, &record), OK);
    assert_string_equal(record.address.host, "");
    assert_false(record.trains);
}

static void every_flipped_bit_breaks_the_signature(void **state)
{
    (void)state;
    uint8_t bytes[RECORD_BYTES];
    make(bytes);
    for (size_t bit = 0; bit < 8 * sizeof bytes; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_int_equal(record_verify(bytes, context), FORGED);
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    assert_int_equal(record_verify(bytes, context), OK);
}

static void a_record_is_invalid_in_another_swarm(void **state)
{
    (void)state;
    const uint8_t other[CONTEXT_BYTES] = {9};
    uint8_t bytes[RECORD_BYTES];
    make(bytes);
    assert_int_equal(record_verify(bytes, other), FORGED);
}

static void refuses_the_signature_of_another_member(void **state)
{
    (void)state;
    const struct identity own = identity_of(1), other = identity_of(2);
    const struct record record = sample(&own);
    uint8_t bytes[RECORD_BYTES];
    record_create(&record, &other, context, bytes);
    assert_int_equal(record_verify(bytes, context), FORGED);
}

static void assert_malformed(const uint8_t bytes[static RECORD_BYTES])
{
    struct record record = {.renew_ms = 5};
    assert_int_equal(record_parse(bytes, &record), MALFORMED);
    assert_int_equal(record.renew_ms, 5);
}

static void refuses_invalid_rates(void **state)
{
    (void)state;
    static const float RATES[] = {NAN, INFINITY, -INFINITY, -1};
    for (size_t at = 64; at <= 68; at += 4) {
        for (size_t i = 0; i < sizeof RATES / sizeof *RATES; i++) {
            uint8_t bytes[RECORD_BYTES];
            make(bytes);
            bytes_put_float(bytes + at, RATES[i]);
            assert_malformed(bytes);
        }
    }
}

static void refuses_unknown_stages_and_flags(void **state)
{
    (void)state;
    uint8_t bytes[RECORD_BYTES];
    make(bytes);
    bytes[74] = STAGES;
    assert_malformed(bytes);
    make(bytes);
    bytes[75] = 2;
    assert_malformed(bytes);
}

static void refuses_a_renewal_later_than_an_hour(void **state)
{
    (void)state;
    uint8_t bytes[RECORD_BYTES];
    make(bytes);
    bytes_put(bytes + 68, RENEW_MS_MAX + 1, 4);
    assert_malformed(bytes);
}

/* A host is dialled and printed on terminals, so it must parse. */
static void refuses_a_host_that_does_not_parse(void **state)
{
    (void)state;
    static const char *const HOSTS[] = {"a b", "\x1b[2J", "a\nb", "[::1]", "a/b", "\xff"};
    uint8_t bytes[RECORD_BYTES];
    for (size_t i = 0; i < sizeof HOSTS / sizeof *HOSTS; i++) {
        make(bytes);
        memset(bytes + 96, 0, HOST_BYTES);
        memcpy(bytes + 96, HOSTS[i], strlen(HOSTS[i]));
        assert_malformed(bytes);
    }
    make(bytes);
    memset(bytes + 96, 'a', HOST_BYTES); /* no final zero */
    assert_malformed(bytes);
}

static void survives_random_records(void **state)
{
    (void)state;
    struct rng rng = rng_new(1, 0);
    uint8_t good[RECORD_BYTES];
    make(good);
    for (int round = 0; round < 20000; round++) {
        uint8_t bytes[RECORD_BYTES];
        memcpy(bytes, good, sizeof bytes);
        for (int flips = 0; flips < 3; flips++)
            bytes[32 + rng_below(&rng, RECORD_BYTES - 32)] = (uint8_t)rng_next(&rng);
        struct record record;
        if (record_parse(bytes, &record) == OK)
            assert_true(record.stage < STAGES && strlen(record.address.host) < HOST_BYTES);
    }
}

int main(void)
{
    secret_start();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_parses_as_it_was_made),
        cmocka_unit_test(the_bytes_have_the_documented_layout),
        cmocka_unit_test(a_node_that_only_dials_has_no_address),
        cmocka_unit_test(every_flipped_bit_breaks_the_signature),
        cmocka_unit_test(a_record_is_invalid_in_another_swarm),
        cmocka_unit_test(refuses_the_signature_of_another_member),
        cmocka_unit_test(refuses_invalid_rates),
        cmocka_unit_test(refuses_unknown_stages_and_flags),
        cmocka_unit_test(refuses_a_renewal_later_than_an_hour),
        cmocka_unit_test(refuses_a_host_that_does_not_parse),
        cmocka_unit_test(survives_random_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
