/* The caller's tensors as one vector, and tensors of 16-bit numbers. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/half.h"
#include "library/caller_tensors.h"

#define P 11

static float singles[2][3] = {{1, 2, 3}, {4, 5, 6}};
static uint16_t brains[4], halves[1];
static struct caller_tensors tensors;
static struct backend *backend;

static int make(void **state)
{
    struct problem problem;
    const struct hearsay_tensor given[] = {
        {.name = "a", .data = singles, .shape = {2, 3}, .dimensions = 2, .device = HEARSAY_CPU},
        {.name = "b",
         .data = brains,
         .shape = {4},
         .dimensions = 1,
         .dtype = HEARSAY_BFLOAT16,
         .device = HEARSAY_CPU},
        {.name = "c", .data = halves, .dtype = HEARSAY_FLOAT16, .device = HEARSAY_CPU},
    };
    (void)state;
    for (int i = 0; i < 4; i++)
        brains[i] = half_to_bfloat16(0.5f * (float)i);
    halves[0] = half_to_float16(-7);
    if (caller_tensors_init(&tensors, given, 3, &problem) != OK)
        return -1;
    backend = backend_cpu(0);
    caller_tensors_use(&tensors, backend);
    return 0;
}

static int end(void **state)
{
    (void)state;
    caller_tensors_free(&tensors);
    backend->close(backend);
    return 0;
}

static void all_are_one_vector_in_their_order(void **state)
{
    static const float all[P] = {1, 2, 3, 4, 5, 6, 0, 0.5f, 1, 1.5f, -7};
    float weights[P];
    struct problem problem;
    (void)state;
    assert_int_equal(tensors.parameters, P);
    assert_int_equal(caller_tensors_read(&tensors, weights, &problem), OK);
    assert_memory_equal(weights, all, sizeof all);
    brains[2] = half_to_bfloat16(INFINITY);
    assert_int_equal(caller_tensors_read(&tensors, weights, &problem), MALFORMED);
    assert_non_null(strstr(problem.text, "tensor b: a weight of inf"));
}

static void a_range_goes_across_tensors(void **state)
{
    float weights[P];
    (void)state;
    for (int i = 0; i < P; i++)
        weights[i] = 10 + (float)i;
    caller_tensors_scatter(&tensors, 5, 3, weights);
    assert_true(singles[1][1] == 5 && singles[1][2] == 15);
    assert_true(half_of_bfloat16(brains[0]) == 16 && half_of_bfloat16(brains[1]) == 17);
    assert_true(half_of_bfloat16(brains[2]) == 1);
    singles[1][2] = 6;
    caller_tensors_gather(&tensors, 5, 3, weights);
    assert_true(weights[4] == 14 && weights[5] == 6 && weights[6] == 16 && weights[8] == 18);
}

static void an_update_touches_what_it_moves_alone(void **state)
{
    uint32_t index[] = {1, 6, 10};
    int8_t level[] = {1, 1, 1};
    const struct update update = {.count = 3, .index = index, .level = level};
    float weights[P] = {0};
    struct weights_copy *copies = caller_tensors_copies(&tensors);
    (void)state;
    singles[0][1] = 2;
    backend->exchange->follow_moved(backend, &update, copies, tensors.count, weights);
    assert_true(weights[0] == 0 && weights[1] == 2 && weights[10] == -7);
    weights[0] = weights[1] = weights[10] = 9;
    backend->exchange->round_moved(backend, &update, copies, tensors.count, weights);
    backend->free(backend, copies);
    assert_true(singles[0][0] == 1 && singles[0][1] == 9 && half_of_float16(halves[0]) == 9);
}

static void those_of_float32_are_the_weights_themselves(void **state)
{
    float more[5];
    struct caller_tensors all;
    struct problem problem;
    const struct hearsay_tensor given[] = {
        {.name = "a", .data = singles, .shape = {2, 3}, .dimensions = 2, .device = HEARSAY_CPU},
        {.name = "d", .data = more, .shape = {5}, .dimensions = 1, .device = HEARSAY_CPU},
    };
    (void)state;
    /* tensors of 16 bits have no float32 weights to use in place */
    assert_null(caller_tensors_parts(&tensors));
    assert_int_equal(caller_tensors_init(&all, given, 2, &problem), OK);
    struct weights_part *parts = caller_tensors_parts(&all);
    assert_non_null(parts);
    assert_ptr_equal(parts[0].at, singles);
    assert_true(parts[0].first == 0 && parts[0].count == 6);
    assert_ptr_equal(parts[1].at, more);
    assert_true(parts[1].first == 6 && parts[1].count == 5);
    free(parts);
    caller_tensors_free(&all);
}

static void rejects_tensors_that_share_memory(void **state)
{
    struct caller_tensors both;
    struct problem problem;
    struct hearsay_tensor given[] = {
        {.name = "last", .data = singles[1], .shape = {3}, .dimensions = 1, .device = HEARSAY_CPU},
        {.name = "whole", .data = singles, .shape = {2, 3}, .dimensions = 2, .device = HEARSAY_CPU},
    };
    (void)state;
    assert_int_equal(caller_tensors_init(&both, given, 2, &problem), MALFORMED);
    assert_non_null(strstr(problem.text, "tensors whole and last share memory"));
    given[1].shape[0] = 1; /* only the first row */
    assert_int_equal(caller_tensors_init(&both, given, 2, &problem), OK);
    caller_tensors_free(&both);
}

/* Applies a hundred moves, each too small to change a 16-bit number, and one move of the caller. */
static void small_moves_add_up_behind_sixteen_bits(void **state)
{
    float weights[P];
    struct problem problem;
    (void)state;
    brains[0] = half_to_bfloat16(1);
    brains[2] = half_to_bfloat16(1);
    assert_int_equal(caller_tensors_read(&tensors, weights, &problem), OK);
    for (int i = 0; i < 100; i++) {
        caller_tensors_gather(&tensors, 0, P, weights);
        weights[6] += 1e-3f;
        caller_tensors_scatter(&tensors, 0, P, weights);
    }
    assert_true(fabsf(weights[6] - 1.1f) < 1e-5f);
    assert_true(fabsf(half_of_bfloat16(brains[0]) - 1.1f) < 0.004f);
    const float before = half_of_bfloat16(brains[0]);
    brains[0] = half_to_bfloat16(before + 0.25f);
    caller_tensors_gather(&tensors, 0, P, weights);
    assert_true(fabsf(weights[6] - 1.35f) < 1e-5f);
}

static void each_number_of_sixteen_bits_goes_there_and_back(void **state)
{
    (void)state;
    for (uint32_t half = 0; half <= UINT16_MAX; half++) {
        const float brain = half_of_bfloat16((uint16_t)half),
                    single = half_of_float16((uint16_t)half);
        assert_true(isnan(brain) ? isnan(half_of_bfloat16(half_to_bfloat16(brain)))
                                 : half_to_bfloat16(brain) == half);
        assert_true(isnan(single) ? isnan(half_of_float16(half_to_float16(single)))
                                  : half_to_float16(single) == half);
    }
}

static void numbers_are_rounded_to_the_nearest_ties_to_even(void **state)
{
    (void)state;
    /* halfway between two numbers: rounded to even */
    assert_int_equal(half_to_bfloat16(1 + 0x1p-8f), 0x3f80);
    assert_int_equal(half_to_bfloat16(1 + 3 * 0x1p-8f), 0x3f82); /* halfway, upwards to even */
    assert_int_equal(half_to_bfloat16(1 + 1.01f * 0x1p-8f), 0x3f81);
    assert_int_equal(half_to_float16(1), 0x3c00);
    assert_int_equal(half_to_float16(1 + 0x1p-11f), 0x3c00);
    assert_int_equal(half_to_float16(1 + 3 * 0x1p-11f), 0x3c02);
    assert_int_equal(half_to_float16(65504), 0x7bff);
    assert_int_equal(half_to_float16(65519.9f), 0x7bff);
    assert_int_equal(half_to_float16(65520), 0x7c00);
    assert_int_equal(half_to_float16(-0x1p-24f), 0x8001);
    assert_int_equal(half_to_float16(0x1p-26f), 0);
    assert_int_equal(half_to_float16(0x1p-14f - 0x1p-26f), 0x400);
}

static void names_shapes_and_types_are_what_they_are_known_by(void **state)
{
    char first[CALLER_TENSORS_TEXT], other[CALLER_TENSORS_TEXT];
    (void)state;
    caller_tensors_describe(&tensors, "r", first);
    assert_non_null(strstr(first, "run r, 3 tensors, list "));
    tensors.item[1].shape[0] = 5;
    caller_tensors_describe(&tensors, "r", other);
    assert_string_not_equal(first, other);
    tensors.item[1].shape[0] = 4;
    tensors.item[1].dtype = HEARSAY_FLOAT16;
    caller_tensors_describe(&tensors, "r", other);
    assert_string_not_equal(first, other);
    tensors.item[1].dtype = HEARSAY_BFLOAT16;
    tensors.item[1].name[0] = 'x';
    caller_tensors_describe(&tensors, "r", other);
    assert_string_not_equal(first, other);
    tensors.item[1].name[0] = 'b';
    caller_tensors_describe(&tensors, "r", other);
    assert_string_equal(first, other);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(all_are_one_vector_in_their_order),
        TEST(a_range_goes_across_tensors),
        TEST(an_update_touches_what_it_moves_alone),
        TEST(those_of_float32_are_the_weights_themselves),
        TEST(rejects_tensors_that_share_memory),
        TEST(small_moves_add_up_behind_sixteen_bits),
        cmocka_unit_test(each_number_of_sixteen_bits_goes_there_and_back),
        cmocka_unit_test(numbers_are_rounded_to_the_nearest_ties_to_even),
        TEST(names_shapes_and_types_are_what_they_are_known_by),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
