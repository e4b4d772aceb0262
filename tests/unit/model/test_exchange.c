/* The backend's operations of the exchange, compared with naive references. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/digest.h"
#include "support/model/exchange_state.h"

static float residual_at(uint32_t c)
{
    return weights[c] - QUANTUM * (float)base[c];
}

static void random_state(uint64_t seed)
{
    struct rng rng = rng_new(seed, 3);
    for (uint32_t c = 0; c < P; c++) {
        base[c] = (int32_t)(rng_next(&rng) >> 40) - (1 << 23);
        weights[c] = QUANTUM * (float)base[c] + (float)(0.01 * normal(&rng));
    }
    weights[7] = NAN;
    weights[8] = INFINITY;
    weights[9] = -INFINITY;
    memcpy(w_before, weights, sizeof weights);
    memcpy(base_before, base, sizeof base);
}

static uint32_t bits_at(uint32_t c)
{
    const float r = fabsf(residual_at(c));
    uint32_t bits;
    memcpy(&bits, &r, sizeof bits);
    return bits;
}

static void a_survey_counts_and_lists_what_is_not_below_the_floor(void **state)
{
    (void)state;
    static uint32_t expected[HISTOGRAM_BINS];
    const float floors[] = {0, 0.001f, 0.01f, 0.03f, 1000};
    for (size_t f = 0; f < sizeof floors / sizeof floors[0]; f++) {
        random_state(1);
        memset(expected, 0, sizeof expected);
        memset(bins, 0xFF, sizeof bins);
        const uint32_t picked = survey(floors[f]);
        uint32_t at = 0, floor_bits;
        memcpy(&floor_bits, &floors[f], sizeof floor_bits);
        for (uint32_t c = 0; c < P; c++) {
            if (bits_at(c) < floor_bits)
                continue;
            expected[bits_at(c) >> 18]++;
            assert_int_equal(candidates[at++], c);
        }
        assert_int_equal(picked, at);
        assert_memory_equal(bins, expected, sizeof bins);
    }
}

static void a_survey_ends_with_the_last_entry(void **state)
{
    (void)state;
    static uint32_t expected[HISTOGRAM_BINS];
    const uint32_t counts[] = {1, 3, 4, 31, 33, 1023, 1024, 1026, 8191, 8192, 8197, 16389, P - 1};
    random_state(9);
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        const struct survey of = {.floor = 0.005f, .candidates = candidates, .candidates_max = P};
        memset(expected, 0, sizeof expected);
        const uint32_t picked =
            backend->exchange->survey(backend, &of, counts[i], weights_flat(weights), base, bins);
        uint32_t at = 0;
        for (uint32_t c = 0; c < counts[i]; c++) {
            if (!isnan(residual_at(c)) && fabsf(residual_at(c)) < of.floor)
                continue;
            expected[(isnan(residual_at(c)) ? 0x7FC00000 : bits_at(c)) >> 18]++;
            assert_int_equal(candidates[at++], c);
        }
        assert_int_equal(picked, at);
        assert_memory_equal(bins, expected, sizeof bins);
    }
    assert_memory_equal(weights, w_before, sizeof weights);
    assert_memory_equal(base, base_before, sizeof base);
}

/* entries; more than the threads that the stand-in for a GPU can run at once */
#define MANY 30001
static void a_survey_of_many_entries_lists_all(void **state)
{
    (void)state;
    static float w[MANY];
    static int32_t zeros[MANY];
    static uint32_t listed[MANY];
    const struct survey of = {.floor = 1, .candidates = listed, .candidates_max = MANY};
    for (uint32_t c = 0; c < MANY; c++)
        w[c] = c % 3 == 0 ? -1.0f : 0.5f;
    const uint32_t picked =
        backend->exchange->survey(backend, &of, MANY, weights_flat(w), zeros, bins);
    assert_int_equal(picked, MANY / 3 + 1);
    for (uint32_t i = 0; i < picked; i++)
        assert_int_equal(listed[i], 3 * i);
    for (uint32_t b = 0; b < HISTOGRAM_BINS; b++)
        assert_int_equal(bins[b], b == 0x3F800000 >> 18 ? picked : 0);
}

static void a_survey_notes_no_more_than_there_is_room_for(void **state)
{
    (void)state;
    random_state(1);
    const uint32_t all = survey(0.01f);
    assert_true(all > 2000);
    const struct survey some = {.floor = 0.01f, .candidates = candidates, .candidates_max = 1500};
    candidates[1500] = 0xABCD;
    assert_int_equal(
        backend->exchange->survey(backend, &some, P, weights_flat(weights), base, bins), all);
    assert_int_equal(candidates[1500], 0xABCD);
    assert_in_range(candidates[1499], 1499, P - 1);
}

static void a_refinement_counts_the_parts_of_one_bin_among_the_candidates(void **state)
{
    (void)state;
    uint32_t parts[BIN_PARTS], expected[BIN_PARTS] = {0}, in_it = 0;
    random_state(1);
    (void)survey(0);
    uint32_t bin = HISTOGRAM_BINS / 2;
    for (uint32_t b = 1; b < HISTOGRAM_BINS; b++)
        bin = bins[b] > bins[bin] ? b : bin;
    for (uint32_t c = 1; c < P; c += 2) { /* every second entry is a candidate */
        const float size = fabsf(weights[c] - QUANTUM * (float)base[c]);
        uint32_t bits;
        memcpy(&bits, &size, sizeof bits);
        candidates[c / 2] = c;
        if (bits / (1u << 18) != bin)
            continue;
        expected[bits % (1u << 18) / 1024]++;
        in_it++;
    }
    assert_true(in_it > 100 && in_it < bins[bin]);
    backend->exchange->refine(backend, P / 2, candidates, weights_flat(weights), base, bin, parts);
    assert_memory_equal(parts, expected, sizeof parts);
}

static void withheld_entries_leave_the_weights(void **state)
{
    (void)state;
    static uint16_t withheld[P];
    random_state(4);
    memset(withheld, 0xFF, sizeof withheld);
    backend->exchange->withhold(backend, P, 0.75f, weights_flat(weights), base, withheld);
    for (uint32_t c = 10; c < P; c++) {
        const float r = w_before[c] - QUANTUM * (float)base_before[c];
        const float part = half_of_bfloat16(withheld[c]), left = w_before[c] - part;
        assert_int_equal(withheld[c], half_to_bfloat16(0.75f * r));
        /* the weight keeps the rounding error of the withheld part */
        assert_memory_equal(&weights[c], &left, sizeof left);
        w_before[c] = left + part;
    }
    assert_memory_equal(base, base_before, sizeof base);
    backend->exchange->release(backend, P, withheld, weights_flat(weights));
    assert_memory_equal(weights + 10, w_before + 10, sizeof weights - 10 * sizeof *weights);
}

static void updates_release_at_most_the_withheld_amount(void **state)
{
    (void)state;
    const float before[] = {1, 1, -1, -0.25f, 0, 5}; /* weights of entries 0 to 5 */
    uint16_t withheld[6];
    for (int c = 0; c < 6; c++)
        withheld[c] = half_to_bfloat16(before[c]);
    uint32_t indexes[] = {0, 1, 2, 3, 4};
    int8_t levels[] = {1, -1, -3, -3, 2};
    const struct update said = {
        .tau = 0.5f, .amount = 7, .count = 5, .index = indexes, .level = levels};
    const float expected[] = {0.75f, 1, -0.25f, 0, 0, 5};
    backend->exchange->drop_covered(backend, &said, 0.5f, withheld);
    for (int c = 0; c < 6; c++)
        assert_true(half_of_bfloat16(withheld[c]) == expected[c]);
}

static void a_cut_looks_at_nothing_else_than_what_was_picked(void **state)
{
    (void)state;
    random_state(1);
    const uint32_t some[] = {3, 7, 1000, P - 1};
    weights[3] = weights[1000] = weights[P - 1] = 500;
    struct update cut = {.tau = 0.1f, .amount = 1, .index = index_, .level = level};
    const struct cut_terms terms = {.statistics_share = 1, .capacity = P};
    backend->exchange->cut(backend, 4, some, &terms, weights_flat(weights), base, &cut);
    assert_int_equal(cut.count, 3);
    assert_int_equal(cut.index[1], 1000);
}

/* Returns the expected level of entry c, computed by division. */
static int level_expected(uint32_t c, float tau, int most)
{
    const float r = w_before[c] - QUANTUM * (float)base_before[c];
    if (!isfinite(r) || fabsf(r) < tau)
        return 0;
    const float levels = truncf(r / tau);
    return levels > (float)most ? most : levels < (float)-most ? -most : (int)levels;
}

static void a_cut_publishes_the_large_residuals_in_order(void **state)
{
    (void)state;
    const float taus[] = {0.0001f, 0.003f, 0.02f, 0.003f, 0.0001f};
    const uint32_t amounts[] = {503, 15099, 100663, MOVE_MAX / 2, MOVE_MAX};
    /* largest levels with which no entry moves by more than 1 */
    const int most[] = {LEVEL_MAX, LEVEL_MAX, LEVEL_MAX, 2, 1};
    for (size_t t = 0; t < sizeof taus / sizeof taus[0]; t++) {
        random_state(2 + t);
        const uint32_t amount = amounts[t];
        struct update cut = {.tau = taus[t], .amount = amount, .index = index_, .level = level};
        cut_all(P, &cut);
        uint32_t at = 0;
        for (uint32_t c = 0; c < P; c++) {
            const int k = level_expected(c, taus[t], most[t]);
            assert_int_equal(base[c], base_before[c] + (int32_t)amount * k);
            if (k == 0) {
                assert_memory_equal(&weights[c], &w_before[c], sizeof weights[c]);
                continue;
            }
            assert_int_equal(cut.index[at], c);
            assert_int_equal(cut.level[at++], k);
            const double moved = ((double)QUANTUM * amount - (double)taus[t]) * k;
            assert_true(fabs((double)weights[c] - (double)w_before[c] - moved) < 1e-6);
        }
        assert_int_equal(cut.count, at);
        assert_true(at > 100);
    }
}

static void a_cut_stops_at_its_capacity(void **state)
{
    (void)state;
    random_state(5);
    struct update cut = {.tau = 0.001f, .amount = 7, .index = index_, .level = level};
    index_[100] = 0xABCD;
    cut_all(100, &cut);
    assert_int_equal(cut.count, 100);
    assert_int_equal(index_[100], 0xABCD);
    for (uint32_t c = index_[99] + 1; c < P; c++)
        assert_int_equal(base[c], base_before[c]);
}

static void applying_moves_base_and_weights_alike(void **state)
{
    (void)state;
    random_state(6);
    uint32_t at[] = {0, 5, 100, P - 1};
    int8_t levels[] = {1, -3, LEVEL_MAX, -LEVEL_MAX};
    const struct update update = {
        .tau = 0.1f, .amount = 5000, .count = 4, .index = at, .level = levels};
    backend->exchange->apply(backend, &update, 0, weights_flat(weights), base);
    uint32_t next = 0;
    for (uint32_t c = 0; c < P; c++) {
        const int k = next < 4 && at[next] == c ? levels[next++] : 0;
        assert_int_equal(base[c], base_before[c] + 5000 * k);
        if (k == 0)
            assert_memory_equal(&weights[c], &w_before[c], sizeof weights[c]);
        else
            assert_true(fabs((double)weights[c] - (double)w_before[c] -
                             5000.0 * (double)QUANTUM * k) < 1e-6);
    }
}

static void with_momentum_the_weights_move_on_beyond_the_base(void **state)
{
    (void)state;
    uint32_t at[] = {0, 5, 100, P - 1};
    int8_t levels[] = {1, -3, LEVEL_MAX, -LEVEL_MAX};
    const struct update update = {
        .tau = 0.1f, .amount = 5000, .count = 4, .index = at, .level = levels};
    for (int own = 0; own < 2; own++) {
        random_state(7);
        (own ? backend->exchange->apply_own
             : backend->exchange->apply)(backend, &update, 0.3f, weights_flat(weights), base);
        for (int i = 0; i < 4; i++) {
            const uint32_t c = at[i];
            const double moved = 5000.0 * (double)QUANTUM * levels[i];
            const double r = (double)w_before[c] - (double)QUANTUM * base_before[c];
            /* the residual is smaller than the published move */
            const double taken = own && r * moved > 0 ? r : 0;
            assert_int_equal(base[c], base_before[c] + 5000 * levels[i]);
            assert_true(fabs((double)weights[c] - (double)w_before[c] - 1.3 * moved + taken) <
                        1e-6);
        }
    }
}

/* A cut update that is applied to the earlier state gives an equal state. */
static void a_cut_moves_on_beyond_the_base_likewise(void **state)
{
    (void)state;
    static float after[P];
    random_state(7);
    struct update cut = {.tau = 0.003f, .amount = 15099, .index = index_, .level = level};
    for (uint32_t c = 0; c < P; c++)
        candidates[c] = c;
    const struct cut_terms terms = {.beta = 0.3f, .statistics_share = 1, .capacity = P};
    backend->exchange->cut(backend, P, candidates, &terms, weights_flat(weights), base, &cut);
    assert_in_range(cut.count, 100, P);
    for (uint32_t i = 0; i < cut.count; i++) {
        const uint32_t c = cut.index[i];
        const double moved = 1.3 * 15099.0 * (double)QUANTUM - (double)cut.tau;
        assert_true(fabs((double)weights[c] - (double)w_before[c] - moved * cut.level[i]) < 1e-6);
    }
    memcpy(after, weights, sizeof after);
    memcpy(weights, w_before, sizeof weights);
    memcpy(base, base_before, sizeof base);
    backend->exchange->apply_own(backend, &cut, 0.3f, weights_flat(weights), base);
    assert_memory_equal(weights + 10, after + 10, sizeof after - 10 * sizeof *after);
}

static void the_digest_is_that_of_its_entries(void **state)
{
    (void)state;
    random_state(8);
    uint64_t high = 0, low = 0;
    for (uint32_t c = 0; c < P; c++) {
        const uint64_t one = digest_of_entry(c, 1);
        assert_int_equal(one & 1 & one >> 32, 1); /* both halves are odd */
        high += (one >> 32) * (uint32_t)base[c];
        low += (one & UINT32_MAX) * (uint32_t)base[c];
    }
    assert_int_equal(backend->exchange->digest(backend, P, base), high << 32 | (low & UINT32_MAX));
    assert_int_equal(backend->exchange->digest(backend, 0, base), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_survey_counts_and_lists_what_is_not_below_the_floor),
        cmocka_unit_test(a_survey_ends_with_the_last_entry),
        cmocka_unit_test(a_survey_of_many_entries_lists_all),
        cmocka_unit_test(a_survey_notes_no_more_than_there_is_room_for),
        cmocka_unit_test(a_refinement_counts_the_parts_of_one_bin_among_the_candidates),
        cmocka_unit_test(withheld_entries_leave_the_weights),
        cmocka_unit_test(updates_release_at_most_the_withheld_amount),
        cmocka_unit_test(a_cut_looks_at_nothing_else_than_what_was_picked),
        cmocka_unit_test(a_cut_publishes_the_large_residuals_in_order),
        cmocka_unit_test(a_cut_stops_at_its_capacity),
        cmocka_unit_test(applying_moves_base_and_weights_alike),
        cmocka_unit_test(with_momentum_the_weights_move_on_beyond_the_base),
        cmocka_unit_test(a_cut_moves_on_beyond_the_base_likewise),
        cmocka_unit_test(the_digest_is_that_of_its_entries),
    };
    RUN_ON_EACH_DEVICE(tests, host_backend_opens, host_backend_closes);
}
