/* Companded weights: the mapping, and the backend's operations compared with a naive
 * implementation. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "backend/error_feedback.h"
#include "base/half.h"
#include "support/model/exchange_state.h"

#define MOVED 500 /* entries of an update */

/* Computes the mapping from its definition, octave by octave. */
static float naive_value(float weight)
{
    const float size = fabsf(weight);
    if (!(size >= 2 && size <= FLT_MAX))
        return weight;
    const int octave = ilogbf(size);
    const float value = (float)octave + ldexpf(size, -octave);
    return copysignf(value < 128 ? value : 0x1.fffffep+6f, weight);
}

static float naive_weight(float value)
{
    const float size = fabsf(value);
    if (!(size >= 2 && size <= FLT_MAX))
        return value;
    const float octave = floorf(size) - 1;
    return copysignf(octave < 128 ? ldexpf(size - octave, (int)octave) : FLT_MAX, value);
}

static void the_value_of_a_weight_is_that_of_its_octave(void **state)
{
    (void)state;
    static const float pairs[][2] = {
        {0, 0},      {1.5f, 1.5f},       {2, 2},        {3, 2.5f},      {4, 3},
        {-6, -3.5f}, {1000, 10.953125f}, {0x1p20f, 21}, {-0x1p63f, -64}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        assert_true(companding_compress(pairs[i][0]) == pairs[i][1]);
        assert_true(companding_expand(pairs[i][1]) == pairs[i][0]);
    }
    struct rng rng = rng_new(1, 1);
    for (int i = 0; i < 100000; i++) {
        const float weight = float_of_bits((uint32_t)rng_next(&rng));
        const float value = companding_compress(weight), naive = naive_value(weight);
        assert_memory_equal(&value, &naive, sizeof value);
        assert_true(!isfinite(weight) || fabsf(value) <= VALUE_MAX);
        const float more = nextafterf(weight, INFINITY);
        assert_true(!isfinite(more) || companding_compress(more) >= value);
    }
    assert_true(isnan(companding_compress(NAN)) && isnan(companding_expand(NAN)));
    assert_true(companding_compress(-INFINITY) == -INFINITY);
    assert_true(companding_expand(INFINITY) == INFINITY);
    assert_true(companding_compress(FLT_MAX) == VALUE_MAX);
    assert_true(companding_expand(130) == FLT_MAX && companding_expand(-130) == -FLT_MAX);
}

/* A weight that equals the base must stay equal when it is read and written. */
static void an_expanded_value_compresses_to_itself(void **state)
{
    (void)state;
    struct rng rng = rng_new(2, 2);
    for (int i = 0; i < 100000; i++) {
        const int32_t units = (int32_t)(uint32_t)rng_next(&rng) >> rng_below(&rng, 24);
        const float value = QUANTUM * (float)units;
        if (fabsf(value) > VALUE_MAX)
            continue;
        const float weight = companding_expand(value), naive = naive_weight(value);
        assert_memory_equal(&weight, &naive, sizeof weight);
        assert_true(companding_compress(weight) == value);
        assert_true(fabsf(value) >= 2 || weight == value);
        assert_true(weight_of_units(units_of_weight(weight, true), true) == weight);
    }
}

/* Draws weights of all sizes, some of them at the ends of the range. */
static void random_state(uint64_t seed)
{
    struct rng rng = rng_new(seed, 3);
    for (uint32_t c = 0; c < P; c++) {
        base[c] = (int32_t)(uint32_t)rng_next(&rng) >> rng_below(&rng, 9);
        weights[c] = naive_weight(QUANTUM * (float)base[c] + (float)(0.05 * normal(&rng)));
        if (rng_below(&rng, 10) == 0)
            weights[c] = ldexpf((float)normal(&rng), (int)rng_below(&rng, 200) - 100);
    }
    weights[7] = NAN;
    weights[8] = INFINITY;
    weights[9] = -INFINITY;
    memcpy(w_before, weights, sizeof weights);
    memcpy(base_before, base, sizeof base);
}

static struct weights companded(void)
{
    struct weights w = weights_flat(weights);
    w.are_companded = true;
    return w;
}

static float naive_residual(uint32_t c)
{
    return naive_value(w_before[c]) - QUANTUM * (float)base_before[c];
}

static bool naive_saturated(uint32_t c)
{
    const float r = naive_residual(c);
    const int64_t units = base_before[c];
    return isfinite(r) && ((units >= 1 << 30 && r > 0) || (units <= -(1 << 30) && r < 0));
}

/* Returns the expected move of weight c. Weights of size 2 or more have no outer momentum. */
static float naive_step(uint32_t c, uint32_t amount, float beta)
{
    return (1 + (fabsf(w_before[c]) >= 2 ? 0 : beta)) * QUANTUM * (float)amount;
}

static void must_have_moved(uint32_t c, float move)
{
    const float weight = naive_weight(naive_value(w_before[c]) + move);
    if (isnan(weight))
        assert_true(isnan(weights[c]));
    else
        assert_memory_equal(&weights[c], &weight, sizeof weight);
}

static void a_survey_passes_over_saturated_entries_and_counts_them(void **state)
{
    (void)state;
    static uint32_t expected[HISTOGRAM_BINS];
    random_state(1);
    memset(expected, 0, sizeof expected);
    const struct survey of = {.floor = 0.01f, .candidates = candidates, .candidates_max = P};
    const uint32_t found = backend->exchange->survey(backend, &of, P, companded(), base, bins);
    uint32_t at = 0, saturated = 0;
    for (uint32_t c = 0; c < P; c++) {
        const float r = fabsf(naive_residual(c));
        if (naive_saturated(c)) {
            saturated++;
        } else if (!(r < 0.01f)) {
            assert_int_equal(candidates[at++], c);
            expected[(isnan(r) ? 0x7FC00000u : bits_of_float(r)) >> BIN_BITS]++;
        }
    }
    expected[HISTOGRAM_BINS - 1] = saturated;
    assert_int_equal(found, at);
    assert_memory_equal(bins, expected, sizeof bins);
    assert_true(saturated > P / 50 && at > P / 4);
}

static void a_cut_moves_values_and_no_saturated_entry(void **state)
{
    (void)state;
    random_state(2);
    for (uint32_t c = 0; c < P; c++)
        candidates[c] = c;
    struct update cut = {.tau = 0.02f, .amount = 30000, .index = index_, .level = level};
    const struct cut_terms terms = {.beta = 0.3f, .statistics_share = 1, .capacity = P};
    backend->exchange->cut(backend, P, candidates, &terms, companded(), base, &cut);
    uint32_t at = 0;
    for (uint32_t c = 0; c < P; c++) {
        const float r = naive_residual(c);
        const bool is_cut = isfinite(r) && fabsf(r) >= cut.tau && !naive_saturated(c);
        const int k = is_cut ? (int)fmaxf(fminf(r / cut.tau, LEVEL_MAX), -LEVEL_MAX) : 0;
        assert_int_equal((uint32_t)base[c], (uint32_t)base_before[c] + cut.amount * (uint32_t)k);
        if (k == 0)
            assert_memory_equal(&weights[c], &w_before[c], sizeof(float));
        else
            must_have_moved(c, (naive_step(c, cut.amount, 0.3f) - cut.tau) * (float)k);
        if (k == 0)
            continue;
        assert_int_equal(cut.index[at], c);
        assert_int_equal(cut.level[at++], k);
    }
    assert_int_equal(cut.count, at);
    assert_true(at > P / 8);
}

static struct update some_update(uint64_t seed)
{
    struct rng rng = rng_new(seed, 4);
    for (uint32_t i = 0; i < MOVED; i++) {
        index_[i] = i * (P / MOVED) + rng_below(&rng, P / MOVED);
        level[i] = (int8_t)(rng_below(&rng, 2) ? 1 + (int)rng_below(&rng, 100)
                                               : -1 - (int)rng_below(&rng, 100));
    }
    return (struct update){
        .tau = 0.05f, .amount = 150000, .count = MOVED, .index = index_, .level = level};
}

static void an_update_moves_values(void **state)
{
    (void)state;
    random_state(3);
    const struct update update = some_update(3);
    backend->exchange->apply(backend, &update, 0.5f, companded(), base);
    for (uint32_t i = 0; i < MOVED; i++)
        must_have_moved(index_[i], naive_step(index_[i], update.amount, 0.5f) * (float)level[i]);
}

/* An own update is subtracted from the residual. The weight then equals the result of a cut. */
static void an_update_of_an_earlier_incarnation_is_paid_by_the_residual(void **state)
{
    (void)state;
    random_state(4);
    const struct update update = some_update(4);
    backend->exchange->apply_own(backend, &update, 0.5f, companded(), base);
    for (uint32_t i = 0; i < MOVED; i++) {
        const float r = naive_residual(index_[i]), k = level[i], toward = k > 0 ? r : -r;
        const float step = naive_step(index_[i], update.amount, 0.5f);
        must_have_moved(index_[i], toward / update.tau >= fabsf(k) ? (step - update.tau) * k
                                   : toward > 0                    ? step * k - r
                                                                   : step * k);
    }
}

static void another_base_moves_values_and_leaves_residuals(void **state)
{
    (void)state;
    static int32_t to[P];
    struct rng rng = rng_new(5, 5);
    random_state(5);
    for (uint32_t c = 0; c < P; c++)
        to[c] = c % 3 ? (int32_t)(uint32_t)rng_next(&rng) >> 4 : base[c];
    for (uint32_t c = 10; c < P; c += 10)
        weights[c] = w_before[c] = naive_weight(QUANTUM * (float)base[c]);
    backend->exchange->rebase(backend, 0, P, to, companded(), base);
    assert_memory_equal(base, to, sizeof base);
    for (uint32_t c = 0; c < P; c++) {
        const float weight = naive_weight(QUANTUM * (float)to[c] + naive_residual(c));
        if (to[c] == base_before[c])
            assert_memory_equal(&weights[c], &w_before[c], sizeof weight);
        else if (!isnan(weight))
            assert_memory_equal(&weights[c], &weight, sizeof weight);
        if (c >= 10 && c % 10 == 0 && fabsf(QUANTUM * (float)base_before[c]) <= VALUE_MAX)
            assert_true(weights[c] == naive_weight(QUANTUM * (float)to[c]));
    }
}

static void withholds_values_but_none_of_saturated_or_large_entries(void **state)
{
    (void)state;
    static uint16_t withheld[P];
    random_state(6);
    backend->exchange->withhold(backend, P, 0.75f, companded(), base, withheld);
    for (uint32_t c = 0; c < P; c++) {
        if (!isfinite(w_before[c]))
            continue;
        const bool is_held = !naive_saturated(c) && fabsf(w_before[c]) < 2;
        assert_int_equal(withheld[c], is_held ? half_to_bfloat16(0.75f * naive_residual(c)) : 0);
        must_have_moved(c, -half_of_bfloat16(withheld[c]));
    }
    memcpy(w_before, weights, sizeof weights);
    backend->exchange->release(backend, P, withheld, companded());
    for (uint32_t c = 0; c < P; c++)
        must_have_moved(c, half_of_bfloat16(withheld[c]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_value_of_a_weight_is_that_of_its_octave),
        cmocka_unit_test(an_expanded_value_compresses_to_itself),
        cmocka_unit_test(a_survey_passes_over_saturated_entries_and_counts_them),
        cmocka_unit_test(a_cut_moves_values_and_no_saturated_entry),
        cmocka_unit_test(an_update_moves_values),
        cmocka_unit_test(an_update_of_an_earlier_incarnation_is_paid_by_the_residual),
        cmocka_unit_test(another_base_moves_values_and_leaves_residuals),
        cmocka_unit_test(withholds_values_but_none_of_saturated_or_large_entries),
    };
    RUN_ON_EACH_DEVICE(tests, host_backend_opens, host_backend_closes);
}
