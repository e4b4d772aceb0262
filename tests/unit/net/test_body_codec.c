/* A rumor's body: exact bits, size planning, and hostile bits. test_rumor.c covers round trips and
 * sizes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/base/updates.h"
#include "wire/body_codec.h"

#define PARAMETERS ((uint64_t)1 << 32)

static void a_body_has_the_documented_bits(void **state)
{
    (void)state;
    /* Entries 2 (+1), 3 (-3), 7 (+2). Bits in stream order:
     * layer 1: k = 1 (10000), gaps 2 (100), 0 (00), 3 (101)
     * layer 2: inverted (1), 1 listed (100), k = 0 (00000), gap 0 (0)
     * layer 3: not inverted (0), 1 listed (100), k = 0 (00000), gap 0 (0)
     * layer 4: not inverted (0), 0 listed (0);   signs 010;   zeros to the byte */
    static const char expected[] = "10000 10000101 1 100 00000 0 0 100 00000 0 0 0 010 00";
    static const uint32_t index[] = {2, 3, 7};
    static const int8_t level[] = {1, -3, 2};
    uint8_t out[64];
    struct body_plan plan;
    body_plan_make(&plan, index, level, 3, sizeof out - BITS_TAIL_BYTES);
    size_t bytes = body_encode(&plan, index, level, out);
    size_t bit = 0;
    for (const char *at = expected; *at != '\0'; at++)
        if (*at != ' ') {
            assert_int_equal(out[bit / 8] >> bit % 8 & 1, *at - '0');
            bit++;
        }
    assert_int_equal(8 * bytes, bit);
}

/* Decodes between buffers of exact sizes, so that a sanitizer detects access beyond them. */
static bool is_accepted(const uint8_t *in, size_t bytes, uint32_t count)
{
    uint8_t *exact = malloc(bytes + BITS_TAIL_BYTES);
    struct update decoded = {.tau = 1, .amount = 1, .count = count};
    decoded.index = malloc(count * sizeof *decoded.index);
    decoded.level = malloc(count);
    assert_true(exact != NULL && decoded.index != NULL && decoded.level != NULL);
    memcpy(exact, in, bytes + BITS_TAIL_BYTES);
    enum error error = body_decode(exact, bytes, 200, count, decoded.index, decoded.level);
    if (error == OK)
        assert_true(update_is_valid(&decoded, 200));
    free(exact);
    free(decoded.level);
    free(decoded.index);
    return error == OK;
}

static void refuses_a_body_that_runs_into_its_tail(void **state)
{
    (void)state;
    uint32_t index[40];
    int8_t level[40];
    uint8_t wire[1000 + BITS_TAIL_BYTES] = {0};
    struct update sent = {.tau = 1, .amount = 1, .index = index, .level = level};
    (void)draw_update(&sent, 40, 0.3, LAPLACE, 1);
    struct body_plan plan;
    body_plan_make(&plan, index, level, 40, 1000);
    size_t bytes = body_encode(&plan, index, level, wire);
    assert_true(is_accepted(wire, bytes, 40));
    for (size_t missing = 1; missing <= BITS_TAIL_BYTES; missing++)
        assert_false(is_accepted(wire, bytes - missing, 40));
}

static uint64_t bits_of(const struct update *update, uint32_t count)
{
    struct body_plan plan;
    body_plan_make(&plan, update->index, update->level, count, 1u << 20);
    assert_int_equal(plan.count, count);
    return plan.bits;
}

static void a_plan_fills_its_space_without_exceeding_it(void **state)
{
    (void)state;
    uint32_t index[3000];
    int8_t level[3000];
    struct update sent = {.tau = 1, .amount = 1, .index = index, .level = level};
    for (enum levels levels = LAPLACE; levels <= TWO_SIDES; levels++)
        for (size_t room = 64; room < 2000; room += 13) {
            struct body_plan plan;
            (void)draw_update(&sent, 3000, 0.3, levels, room);
            body_plan_make(&plan, index, level, 3000, room);
            assert_true(plan.bits <= 8 * room);
            assert_int_equal(plan.bits, bits_of(&sent, plan.count));
            if (plan.count < 3000 && plan.bits < 8 * room - room / 4)
                assert_true(bits_of(&sent, plan.count + 1) > 8 * room);
        }
}

static void a_plan_stops_before_an_expensive_entry(void **state)
{
    (void)state;
    uint32_t index[3000];
    int8_t level[3000];
    for (uint32_t i = 0; i < 3000; i++)
        index[i] = i;
    for (uint32_t dear = 2050; dear < 2200; dear++) {
        struct body_plan plan;
        memset(level, 1, sizeof level);
        level[dear] = LEVEL_MAX; /* about 280 bits; every other entry takes two */
        body_plan_make(&plan, index, level, 3000, dear / 4 + 30);
        assert_int_equal(plan.count, dear);
        assert_int_equal(plan.bits, 5 + 2 * dear + 2);
    }
}

static void a_mutated_body_is_refused_or_valid(void **state)
{
    (void)state;
    uint32_t index[40];
    int8_t level[40];
    uint8_t wire[1000 + BITS_TAIL_BYTES];
    struct update sent = {.tau = 1, .amount = 1, .index = index, .level = level};
    struct rng rng = rng_new(5, 0);
    int accepted = 0;
    for (int i = 0; i < 100000; i++) {
        uint32_t count = 1 + rng_below(&rng, 40);
        struct body_plan plan;
        (void)draw_update(&sent, count, 0.3, i % 2 == 0 ? LAPLACE : UNIFORM, (uint64_t)i);
        body_plan_make(&plan, index, level, count, 1000);
        size_t bytes = body_encode(&plan, index, level, wire);
        memset(wire + bytes, (int)rng_below(&rng, 256), BITS_TAIL_BYTES);
        mutate(&rng, wire, bytes);
        accepted += is_accepted(wire, bytes, count + (rng_below(&rng, 10) == 0));
    }
    assert_in_range(accepted, 1000, 60000);
}

static void a_random_body_is_refused_or_valid(void **state)
{
    (void)state;
    struct rng rng = rng_new(6, 0);
    uint8_t in[64 + BITS_TAIL_BYTES];
    uint32_t index[256];
    int8_t level[256];
    int accepted = 0;
    for (int i = 0; i < 100000; i++) {
        struct update decoded = {
            .tau = 1, .amount = 1, .count = 1 + rng_below(&rng, 4), .index = index, .level = level};
        size_t bytes = 1 + rng_below(&rng, 8);
        for (size_t at = 0; at < sizeof in; at++)
            in[at] = (uint8_t)rng_below(&rng, 256);
        if (body_decode(in, bytes, PARAMETERS, decoded.count, index, level) == OK) {
            assert_true(update_is_valid(&decoded, PARAMETERS));
            accepted++;
        }
    }
    assert_in_range(accepted, 10, 90000);
}

static void refuses_a_count_that_cannot_fit_its_bytes(void **state)
{
    (void)state;
    /* nothing is written, so the arrays may be small */
    static const uint8_t zeros[64 + BITS_TAIL_BYTES];
    uint32_t index[1];
    int8_t level[1];
    assert_int_equal(body_decode(zeros, 64, PARAMETERS, 257, index, level), MALFORMED);
    assert_int_equal(body_decode(zeros, 64, PARAMETERS, UINT32_MAX, index, level), MALFORMED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_body_has_the_documented_bits),
        cmocka_unit_test(refuses_a_body_that_runs_into_its_tail),
        cmocka_unit_test(a_plan_fills_its_space_without_exceeding_it),
        cmocka_unit_test(a_plan_stops_before_an_expensive_entry),
        cmocka_unit_test(a_mutated_body_is_refused_or_valid),
        cmocka_unit_test(a_random_body_is_refused_or_valid),
        cmocka_unit_test(refuses_a_count_that_cannot_fit_its_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
