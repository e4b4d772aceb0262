/* Rumors: exact round trips in few bytes, and rejection of altered bytes. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/base/updates.h"
#include "wire/body_codec.h"
#include "wire/rumor.h"

#define ENTRIES_MAX 300000
#define PARAMETERS  ((uint64_t)1 << 32)
#define FIXED_BYTES (HEAD_BYTES + SIGNATURE_BYTES)

static const uint8_t context[CONTEXT_BYTES] = {0xC0};
static struct identity identity;

static const char *const levels_name[] = {"Laplace", "ones", "uniform", "two sides"};

/* An update to send and a decoded one, each with arrays of ENTRIES_MAX entries. */
struct world {
    struct update sent;
    struct update decoded;
    uint8_t *wire; /* [RUMOR_MAX] */
};

static void *memory(size_t bytes)
{
    void *taken = malloc(bytes);
    assert_non_null(taken);
    return taken;
}

static struct world world_new(void)
{
    struct world world = {.sent = {.tau = 0.01f, .amount = 77}};
    world.sent.index = memory(ENTRIES_MAX * sizeof *world.sent.index);
    world.sent.level = memory(ENTRIES_MAX);
    world.decoded.index = memory(ENTRIES_MAX * sizeof *world.decoded.index);
    world.decoded.level = memory(ENTRIES_MAX);
    world.wire = memory(RUMOR_MAX);
    return world;
}

static void world_free(struct world *world)
{
    free(world->sent.index);
    free(world->sent.level);
    free(world->decoded.index);
    free(world->decoded.level);
    free(world->wire);
}

static struct rumor_head head_number(uint32_t seq)
{
    struct rumor_head head = {.incarnation = 0x1122334455667788, .seq = seq, .samples = 1234567};
    memcpy(head.origin, identity.id, ID_BYTES);
    memset(head.prev, seq > 0 ? 0x5A : 0, sizeof head.prev);
    return head;
}

/* Encodes and decodes the entries from `from` on. Returns how many fit into the rumor. */
static uint32_t assert_round_trip(struct world *world, uint32_t from, size_t *bytes)
{
    uint32_t taken = 0;
    struct rumor_head head = head_number(5);
    rumor_encode(&head, &world->sent, from, RUMOR_MAX, &identity, context, world->wire, &taken,
                 bytes);
    assert_in_range(taken, 1, world->sent.count - from);
    assert_in_range(*bytes, RUMOR_MIN, RUMOR_MAX);
    assert_int_equal(
        rumor_decode(world->wire, *bytes, context, PARAMETERS, RUMOR_ENTRIES_MAX, &world->decoded),
        OK);
    assert_int_equal(world->decoded.count, taken);
    assert_int_equal(world->decoded.amount, world->sent.amount);
    assert_true(world->decoded.tau == world->sent.tau);
    assert_memory_equal(world->decoded.index, world->sent.index + from,
                        taken * sizeof *world->decoded.index);
    assert_memory_equal(world->decoded.level, world->sent.level + from, taken);
    return taken;
}

/* Sends the whole update in several rumors. Returns their bytes without heads and signatures. */
static uint64_t assert_all_round_trip(struct world *world, uint32_t *rumors)
{
    uint64_t body_bytes = 0;
    uint32_t from = 0;
    for (*rumors = 0; from < world->sent.count; ++*rumors) {
        size_t bytes;
        from += assert_round_trip(world, from, &bytes);
        body_bytes += bytes - FIXED_BYTES;
        if (from < world->sent.count)
            assert_in_range(bytes, RUMOR_MAX - RUMOR_MAX / 25, RUMOR_MAX);
    }
    return body_bytes;
}

static void updates_of_every_density_arrive_and_stay_within_5_percent_of_their_entropy(void **state)
{
    (void)state;
    static const double densities[] = {1e-4, 1e-3, 1e-2, 0.1, 0.2, 0.3, 0.38, 0.5};
    struct world world = world_new();
    for (enum levels levels = LAPLACE; levels <= TWO_SIDES; levels++)
        for (size_t i = 0; i < sizeof densities / sizeof densities[0]; i++) {
            uint32_t rumors;
            uint64_t parameters =
                draw_update(&world.sent, 100000, densities[i], levels, 100 * levels + i);
            uint64_t bytes = assert_all_round_trip(&world, &rumors);
            double ratio = 8 * (double)bytes / entropy_bits(&world.sent, parameters);
            if (!(ratio < 1.05))
                print_error("%s at %g: %.4f of the entropy\n", levels_name[levels], densities[i],
                            ratio);
            assert_true(ratio < 1.05);
            assert_true(ratio > 0.95);
        }
    world_free(&world);
}

static void a_small_update_costs_few_bits_beyond_its_entropy(void **state)
{
    (void)state;
    struct world world = world_new();
    uint32_t rumors;
    uint64_t parameters = draw_update(&world.sent, 500, 1e-2, LAPLACE, 3);
    double bits = 8 * (double)assert_all_round_trip(&world, &rumors);
    assert_true(bits < 1.05 * entropy_bits(&world.sent, parameters) + 64);
    assert_int_equal(rumors, 1);
    world_free(&world);
}

static void a_large_update_is_split_into_independent_rumors(void **state)
{
    (void)state;
    struct world world = world_new();
    uint32_t rumors;
    (void)draw_update(&world.sent, ENTRIES_MAX, 1e-2, LAPLACE, 1);
    (void)assert_all_round_trip(&world, &rumors);
    assert_in_range(rumors, 5, 7);
    world_free(&world);
}

static void an_update_with_an_untypical_start_is_split_well(void **state)
{
    (void)state;
    struct world world = world_new();
    uint32_t rumors;
    (void)draw_update(&world.sent, ENTRIES_MAX, 0.5, ONES, 1);
    for (uint32_t i = 4000; i < ENTRIES_MAX; i++) {
        world.sent.index[i] = world.sent.index[i - 1] + 1 + i % 9000;
        world.sent.level[i] = (int8_t)(1 + i * i % LEVEL_MAX);
    }
    (void)assert_all_round_trip(&world, &rumors);
    for (uint32_t i = 0; i < ENTRIES_MAX; i++) { /* now the costly entries come first */
        world.sent.index[i] = i < 4000 ? i * 1000 : 4000000 + i;
        world.sent.level[i] = i < 4000 ? (int8_t)(1 + i * i % LEVEL_MAX) : 1;
    }
    (void)assert_all_round_trip(&world, &rumors);
    world_free(&world);
}

static void single_entries_at_either_end_arrive(void **state)
{
    (void)state;
    static const uint32_t indices[] = {0, 1, 31, 32, 1u << 24, UINT32_MAX - 1, UINT32_MAX};
    static const int8_t levels[] = {1, -1, 2, -2, 3, 64, LEVEL_MAX, -LEVEL_MAX};
    struct world world = world_new();
    for (size_t i = 0; i < sizeof indices / sizeof indices[0]; i++)
        for (size_t j = 0; j < sizeof levels / sizeof levels[0]; j++) {
            size_t bytes;
            world.sent.count = 1;
            world.sent.index[0] = indices[i];
            world.sent.level[0] = levels[j];
            assert_int_equal(assert_round_trip(&world, 0, &bytes), 1);
            assert_true(bytes <= FIXED_BYTES + 42); /* 126 layers of two bits, and a gap */
        }
    world_free(&world);
}

static void gaps_of_all_sizes_in_one_update_arrive(void **state)
{
    (void)state;
    struct world world = world_new();
    size_t bytes;
    uint32_t count = 0;
    for (uint32_t i = 0; i < 1000; i++)
        world.sent.index[count++] = i;
    for (uint32_t shift = 10; shift < 32; shift++)
        world.sent.index[count++] = 1u << shift;
    world.sent.index[count++] = UINT32_MAX - 1;
    world.sent.index[count++] = UINT32_MAX;
    for (uint32_t i = 0; i < count; i++)
        world.sent.level[i] = (int8_t)(i % 3 == 0 ? -LEVEL_MAX : 1 + (int)i % LEVEL_MAX);
    world.sent.count = count;
    assert_int_equal(assert_round_trip(&world, 0, &bytes), count);
    world_free(&world);
}

static void every_small_number_of_entries_and_every_level_arrives(void **state)
{
    (void)state;
    struct world world = world_new();
    for (uint32_t count = 1; count < 70; count++)
        for (int top = 1; top <= LEVEL_MAX; top += 9) {
            size_t bytes;
            for (uint32_t i = 0; i < count; i++) {
                int level = 1 + (int)(i * 7 + count) % top;
                world.sent.index[i] = i * count;
                world.sent.level[i] = (int8_t)(i % 2 == 0 ? level : -level);
            }
            world.sent.count = count;
            assert_int_equal(assert_round_trip(&world, 0, &bytes), count);
        }
    world_free(&world);
}

static void the_densest_update_arrives(void **state)
{
    (void)state;
    struct world world = world_new();
    uint32_t rumors;
    for (uint32_t i = 0; i < ENTRIES_MAX; i++) {
        world.sent.index[i] = i;
        world.sent.level[i] = 1;
    }
    world.sent.count = ENTRIES_MAX;
    assert_true(assert_all_round_trip(&world, &rumors) <= ENTRIES_MAX / 4 + 100);
    memset(world.sent.level, -LEVEL_MAX, ENTRIES_MAX);
    assert_true(assert_all_round_trip(&world, &rumors) <= ENTRIES_MAX / 4 + 300);
    assert_int_equal(rumors, 2);
    world_free(&world);
}

static void the_limits_of_tau_and_amount_arrive(void **state)
{
    (void)state;
    struct world world = world_new();
    size_t bytes;
    (void)draw_update(&world.sent, 10, 0.1, ONES, 1);
    world.sent.tau = TAU_MAX;
    world.sent.amount = AMOUNT_MAX;
    assert_int_equal(assert_round_trip(&world, 0, &bytes), 10);
    world.sent.tau = 1e-40f;
    world.sent.amount = 1;
    assert_int_equal(assert_round_trip(&world, 0, &bytes), 10);
    world_free(&world);
}

static void a_head_has_the_documented_layout(void **state)
{
    (void)state;
    struct world world = world_new();
    size_t bytes;
    (void)draw_update(&world.sent, 258, 0.1, ONES, 1);
    world.sent.tau = 0.5f;
    world.sent.amount = 0x010203;
    assert_int_equal(assert_round_trip(&world, 0, &bytes), 258);
    static const uint8_t rest[] = {
        0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, /* incarnation */
        5,    0,    0,    0,    2,    1,    0,    1,    /* seq, count, top */
        0x87, 0xD6, 0x12, 0,    0,    0,    17,   0,    /* samples, length */
        0,    0,    0,    0x3F, 3,    2,    1,    0};   /* tau, amount */
    assert_memory_equal(world.wire, identity.id, ID_BYTES);
    assert_memory_equal(world.wire + ID_BYTES, rest, sizeof rest);
    struct rumor_head head;
    struct rumor_head expected = head_number(5);
    assert_int_equal(rumor_peek(world.wire, bytes, &head), OK);
    assert_memory_equal(head.origin, expected.origin, ID_BYTES);
    assert_int_equal(head.incarnation, expected.incarnation);
    assert_int_equal(head.seq, expected.seq);
    assert_int_equal(head.samples, expected.samples);
    assert_int_equal(rumor_peek(world.wire, RUMOR_MIN - 1, &head), MALFORMED);
    assert_int_equal(rumor_peek(world.wire, RUMOR_MAX + 1, &head), MALFORMED);
    world_free(&world);
}

/* Makes a small rumor of 60 entries among 1000. Returns its size in bytes. */
static size_t small_rumor(struct world *world, uint64_t seed)
{
    uint32_t taken;
    size_t bytes;
    struct rumor_head head = head_number(0);
    (void)draw_update(&world->sent, 60, 0.1, LAPLACE, seed);
    rumor_encode(&head, &world->sent, 0, RUMOR_MAX, &identity, context, world->wire, &taken,
                 &bytes);
    assert_int_equal(taken, 60);
    return bytes;
}

static enum error apply(struct world *world, size_t bytes)
{
    return rumor_decode(world->wire, bytes, context, 1000, RUMOR_ENTRIES_MAX, &world->decoded);
}

static void refuses_every_bit_flip(void **state)
{
    (void)state;
    struct world world = world_new();
    size_t bytes = small_rumor(&world, 1);
    world.decoded.count = 12345;
    for (size_t bit = 0; bit < 8 * bytes; bit++) {
        world.wire[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_int_not_equal(apply(&world, bytes), OK);
        world.wire[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    assert_int_equal(world.decoded.count, 12345);
    assert_int_equal(apply(&world, bytes), OK);
    world_free(&world);
}

static void refuses_every_truncation_and_extension(void **state)
{
    (void)state;
    struct world world = world_new();
    size_t bytes = small_rumor(&world, 1);
    memset(world.wire + bytes, 0, 100);
    for (size_t length = 0; length < bytes + 100; length++)
        if (length != bytes)
            assert_int_not_equal(apply(&world, length), OK);
    assert_int_equal(apply(&world, bytes), OK);
    world_free(&world);
}

static void refuses_another_context_or_signer(void **state)
{
    (void)state;
    static const uint8_t other_context[CONTEXT_BYTES] = {0xC1};
    static const uint8_t other_seed[SEED_BYTES] = {2};
    struct identity other;
    struct world world = world_new();
    size_t bytes = small_rumor(&world, 1);
    assert_int_equal(
        rumor_decode(world.wire, bytes, other_context, 1000, RUMOR_ENTRIES_MAX, &world.decoded),
        FORGED);
    identity_from_seed(&other, other_seed);
    memcpy(world.wire, other.id, ID_BYTES);
    assert_int_equal(apply(&world, bytes), FORGED);
    world_free(&world);
}

/* Signs the altered bytes as a hostile origin would. */
static void sign_again(uint8_t *wire, size_t bytes)
{
    assert_int_equal(rumor_seal(wire, bytes - HEAD_BYTES - SIGNATURE_BYTES, &identity, context),
                     bytes);
}

static void assert_head_refused(struct world *world, size_t bytes, size_t at, const void *field,
                                size_t field_bytes)
{
    uint8_t saved[8];
    memcpy(saved, world->wire + at, field_bytes);
    memcpy(world->wire + at, field, field_bytes);
    sign_again(world->wire, bytes);
    assert_int_equal(apply(world, bytes), MALFORMED);
    memcpy(world->wire + at, saved, field_bytes);
    sign_again(world->wire, bytes);
    assert_int_equal(apply(world, bytes), OK);
}

static void refuses_a_signed_head_beyond_its_limits(void **state)
{
    (void)state;
    static const float taus[] = {0, -0.0f, -0.01f, 1.0000001f, INFINITY, -INFINITY, NAN};
    static const uint8_t amounts[][4] = {{0, 0, 0, 0}, {1, 0, 0, 1}, {0, 0, 0, 0x80}};
    static const uint8_t counts[][HEAD_COUNT_BYTES] = {{0, 0, 0}, {59, 0, 0}, {61, 0, 0}};
    struct world world = world_new();
    size_t bytes = small_rumor(&world, 1);
    for (size_t i = 0; i < sizeof taus / sizeof taus[0]; i++)
        assert_head_refused(&world, bytes, 56, &taus[i], 4);
    for (size_t i = 0; i < sizeof amounts / sizeof amounts[0]; i++)
        assert_head_refused(&world, bytes, 60, amounts[i], 4);
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        assert_head_refused(&world, bytes, 44, counts[i], HEAD_COUNT_BYTES);
    world_free(&world);
}

static void refuses_a_signed_rumor_without_entries(void **state)
{
    (void)state;
    struct world world = world_new();
    (void)small_rumor(&world, 1);
    memset(world.wire + 44, 0, 4);
    world.wire[HEAD_BYTES] = 0; /* a gap parameter k, but no gap */
    sign_again(world.wire, RUMOR_MIN);
    assert_int_equal(apply(&world, RUMOR_MIN), MALFORMED);
    world_free(&world);
}

static void refuses_more_entries_than_the_capacity(void **state)
{
    (void)state;
    struct world world = world_new();
    size_t bytes = small_rumor(&world, 1);
    assert_int_equal(rumor_decode(world.wire, bytes, context, 1000, 59, &world.decoded), TOO_BIG);
    assert_int_equal(rumor_decode(world.wire, bytes, context, 1000, 60, &world.decoded), OK);
    world_free(&world);
}

static void refuses_an_index_beyond_the_parameters(void **state)
{
    (void)state;
    struct world world = world_new();
    size_t bytes = small_rumor(&world, 1);
    uint64_t last = world.sent.index[59];
    assert_int_equal(rumor_decode(world.wire, bytes, context, last, 60, &world.decoded), MALFORMED);
    assert_int_equal(rumor_decode(world.wire, bytes, context, last + 1, 60, &world.decoded), OK);
    world_free(&world);
}

static void refuses_a_signed_rumor_with_bits_left_over(void **state)
{
    (void)state;
    struct world world = world_new();
    struct body_plan plan;
    int seen = 0;
    for (uint64_t seed = 0; seed < 20; seed++) {
        size_t bytes = small_rumor(&world, seed);
        uint8_t *last = world.wire + bytes - SIGNATURE_BYTES - 1;
        body_plan_make(&plan, world.sent.index, world.sent.level, 60, 1000);
        for (uint64_t bit = plan.bits; bit % 8 != 0; bit++, seen++) {
            *last ^= (uint8_t)(1 << bit % 8);
            sign_again(world.wire, bytes);
            assert_int_equal(apply(&world, bytes), MALFORMED);
            *last ^= (uint8_t)(1 << bit % 8);
        }
        last[1] = 0;
        sign_again(world.wire, bytes + 1);
        assert_int_equal(apply(&world, bytes + 1), MALFORMED);
        sign_again(world.wire, bytes - 1);
        assert_int_equal(apply(&world, bytes - 1), MALFORMED);
    }
    assert_true(seen > 20);
    world_free(&world);
}

static void a_mutated_and_signed_rumor_is_refused_or_valid(void **state)
{
    (void)state;
    struct world world = world_new();
    struct rng rng = rng_new(4, 0);
    int accepted = 0;
    for (int i = 0; i < 3000; i++) {
        size_t bytes = small_rumor(&world, (uint64_t)i % 10);
        bytes -= rng_below(&rng, 4) == 0 ? rng_below(&rng, 20) : 0;
        mutate(&rng, world.wire + ID_BYTES, bytes - ID_BYTES - SIGNATURE_BYTES);
        sign_again(world.wire, bytes);
        uint8_t *exact =
            memory(bytes); /* exact size, so that a sanitizer detects reads behind it */
        memcpy(exact, world.wire, bytes);
        if (rumor_decode(exact, bytes, context, 1000, RUMOR_ENTRIES_MAX, &world.decoded) == OK) {
            assert_true(update_is_valid(&world.decoded, 1000));
            accepted++;
        }
        free(exact);
    }
    assert_in_range(accepted, 100, 2900);
    world_free(&world);
}

static int make_identity(void **state)
{
    (void)state;
    static const uint8_t seed[SEED_BYTES] = {1};
    secret_start();
    identity_from_seed(&identity, seed);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            updates_of_every_density_arrive_and_stay_within_5_percent_of_their_entropy),
        cmocka_unit_test(a_small_update_costs_few_bits_beyond_its_entropy),
        cmocka_unit_test(a_large_update_is_split_into_independent_rumors),
        cmocka_unit_test(an_update_with_an_untypical_start_is_split_well),
        cmocka_unit_test(single_entries_at_either_end_arrive),
        cmocka_unit_test(gaps_of_all_sizes_in_one_update_arrive),
        cmocka_unit_test(every_small_number_of_entries_and_every_level_arrives),
        cmocka_unit_test(the_densest_update_arrives),
        cmocka_unit_test(the_limits_of_tau_and_amount_arrive),
        cmocka_unit_test(a_head_has_the_documented_layout),
        cmocka_unit_test(refuses_every_bit_flip),
        cmocka_unit_test(refuses_every_truncation_and_extension),
        cmocka_unit_test(refuses_another_context_or_signer),
        cmocka_unit_test(refuses_a_signed_head_beyond_its_limits),
        cmocka_unit_test(refuses_a_signed_rumor_without_entries),
        cmocka_unit_test(refuses_more_entries_than_the_capacity),
        cmocka_unit_test(refuses_an_index_beyond_the_parameters),
        cmocka_unit_test(refuses_a_signed_rumor_with_bits_left_over),
        cmocka_unit_test(a_mutated_and_signed_rumor_is_refused_or_valid),
    };
    return cmocka_run_group_tests(tests, make_identity, NULL);
}
