/* The backend's operations for returning nodes: applying own earlier publications, taking over a
 * base, and following weights that a program trains in 16 bits. Compared with naive references. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "support/model/host_backend.h"

#define P 700

static float w[P], w_before[P];
static int32_t base[P], base_before[P];

static double residual(float weight, int32_t units)
{
    return (double)weight - (double)QUANTUM * units;
}

static void apply_own_agrees_with_the_reference(void **state)
{
    (void)state;
    uint32_t index[P];
    int8_t level[P];
    struct rng rng = rng_new(2, 2);
    struct update update = {
        .tau = 0.01f, .amount = 40000, .count = P, .index = index, .level = level};
    int kinds[3] = {0};
    for (uint32_t c = 0; c < P; c++) {
        index[c] = c;
        level[c] = (int8_t)(1 + (int)rng_below(&rng, 5));
        level[c] = (int8_t)(rng_below(&rng, 2) != 0 ? level[c] : -level[c]);
        base[c] = base_before[c] = (int32_t)rng_below(&rng, 1 << 22) - (1 << 21);
        w[c] = (float)((double)QUANTUM * base[c] + 0.1 * rng_uniform(&rng) - 0.05);
        w_before[c] = w[c];
    }
    backend->exchange->apply_own(backend, &update, 0, weights_flat(w), base);
    for (int c = 0; c < P; c++) {
        const double r = residual(w_before[c], base_before[c]), t = (double)update.tau * level[c];
        const double charged = r * t <= 0 ? 0 : fabs(r) < fabs(t) ? r : t;
        const double want = (double)w_before[c] + (double)QUANTUM * 40000 * level[c] - charged;
        kinds[r * t <= 0 ? 0 : fabs(r) < fabs(t) ? 1 : 2]++;
        assert_int_equal(base[c], base_before[c] + 40000 * level[c]);
        assert_true(fabs((double)w[c] - want) < 5e-8);
    }
    assert_true(kinds[0] > P / 10 && kinds[1] > P / 10 && kinds[2] > P / 10);
}

static void apply_own_leaves_what_is_not_a_number_and_lets_the_base_wrap(void **state)
{
    (void)state;
    uint32_t index[] = {0, 1, 2};
    int8_t level[] = {1, 1, LEVEL_MAX};
    const struct update update = {
        .tau = 1, .amount = AMOUNT_MAX, .count = 3, .index = index, .level = level};
    w[0] = NAN;
    w[1] = INFINITY;
    w[2] = 0;
    base[0] = base[1] = base[2] = 0;
    backend->exchange->apply_own(backend, &update, 0, weights_flat(w), base);
    backend->exchange->apply_own(backend, &update, 0, weights_flat(w), base);
    assert_true(isnan(w[0]) && isinf(w[1]));
    assert_int_equal(base[0], 2 * AMOUNT_MAX);
    assert_int_equal(base[2], (int32_t)(2u * LEVEL_MAX * AMOUNT_MAX));
}

static void rebase_keeps_the_residual_and_what_has_none_has_none(void **state)
{
    (void)state;
    int32_t to[P];
    struct rng rng = rng_new(3, 3);
    for (int c = 0; c < P; c++) {
        const uint32_t range = c % 2 ? 1u << 22 : 1u << 30; /* sizes up to 0.125 and up to 32 */
        base[c] = base_before[c] = (int32_t)rng_below(&rng, range) - (int32_t)(range / 2);
        to[c] = c % 3 ? (int32_t)rng_below(&rng, range) - (int32_t)(range / 2) : base[c];
        w[c] = QUANTUM * (float)base[c];
        if (c % 5)
            w[c] += (float)(0.02 * rng_uniform(&rng) - 0.01);
        if (c % 7 == 1 && c % 5)
            /* a tiny weight: the float32 residual loses some or all of its bits */
            w[c] = 1e-9f * (float)c;
        w_before[c] = w[c];
    }
    backend->exchange->rebase(backend, 0, P, to, weights_flat(w), base);
    assert_memory_equal(base, to, sizeof base);
    for (int c = 0; c < P; c++) {
        const double moved = residual(w[c], base[c]) - residual(w_before[c], base_before[c]);
        assert_true(fabs(moved) < (c % 2 ? 1e-7 : 1e-5));
        assert_true(c % 3 || memcmp(&w[c], &w_before[c], sizeof *w) == 0);
        assert_true(c % 5 || w[c] == QUANTUM * (float)to[c]);
    }
}

/* Tensors in 16 bits and their full weights, with values of all sizes, and NaN. */
static void halves_are_rounded_and_followed(void **state)
{
    (void)state;
    uint16_t half[P], done[P];
    for (int t = 0; t < 2; t++) {
        const enum half_type type = t == 0 ? HALF_BFLOAT16 : HALF_FLOAT16;
        struct rng rng = rng_new(4, (uint64_t)t);
        for (int c = 0; c < P; c++)
            w[c] = ldexpf((float)rng_uniform(&rng) - 0.5f, (int)rng_below(&rng, 40) - 30);
        w[5] = NAN;
        w[6] = INFINITY;
        backend->exchange->round(backend, type, P, w, half);
        for (int c = 0; c < P; c++)
            assert_int_equal(half[c], half_to(type, w[c]));
        w[5] = w[6] = 1;
        memcpy(w_before, w, sizeof w);
        memcpy(done, half, sizeof half);
        for (int c = 0; c < P; c += 2) /* the program trains every other entry */
            done[c] = half_to(type, half_of(type, half[c]) * 1.5f + 0.25f);
        backend->exchange->follow(backend, type, P, done, w);
        assert_true(isnan(w[5]) && isinf(w[6]));
        for (int c = 0; c < P; c++) {
            const float moved = half_of(type, done[c]) - half_of(type, half[c]);
            if (c % 2 && c != 5)
                assert_memory_equal(&w[c], &w_before[c], sizeof *w);
            else if (c != 5 && c != 6)
                assert_true(w[c] == w_before[c] + moved);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(apply_own_agrees_with_the_reference),
        cmocka_unit_test(apply_own_leaves_what_is_not_a_number_and_lets_the_base_wrap),
        cmocka_unit_test(rebase_keeps_the_residual_and_what_has_none_has_none),
        cmocka_unit_test(halves_are_rounded_and_followed),
    };
    RUN_ON_EACH_DEVICE(tests, host_backend_opens, host_backend_closes);
}
