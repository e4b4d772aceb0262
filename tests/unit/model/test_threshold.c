/* The threshold: the entries above it fit the budget, and no other fitting threshold publishes
 * more. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "exchange/threshold.h"
#include "support/model/exchange_state.h"

enum shape_of { GAUSS, LAPLACE, HEAVY, EQUAL, TWO_SIZES, TINY, HUGE_ONES, SHAPES };

static float residual_of(enum shape_of shape, struct rng *rng)
{
    const double sign = rng_below(rng, 2) ? 1 : -1;
    switch (shape) {
    case GAUSS:
        return (float)(0.001 * normal(rng));
    case LAPLACE:
        return (float)(-0.001 * sign * log(1 - rng_uniform(rng)));
    case HEAVY:
        return (float)(1e-5 * sign / (1e-4 + pow(rng_uniform(rng), 1.5)));
    case EQUAL:
        return (float)(0.003 * sign);
    case TWO_SIZES:
        return (float)((rng_below(rng, 50) ? 0.0001 : 0.01) * sign);
    case TINY:
        return (float)(1e-30 * normal(rng));
    case HUGE_ONES:
        return (float)(100 * normal(rng));
    default:
        return 0;
    }
}

static void fill(enum shape_of shape)
{
    struct rng rng = rng_new(11, (uint64_t)shape);
    for (uint32_t c = 0; c < P; c++) {
        weights[c] = residual_of(shape, &rng);
        base[c] = 0;
    }
}

static double bits_of_choice(double m, double n)
{
    const double p = m / n;
    return m <= 0 || m >= n ? 0 : -n * (p * log2(p) + (1 - p) * log2(1 - p));
}

/* Returns the entropy of a cut in bytes. Each level is coded as a subset of the previous one,
 * followed by signs. */
static double entropy_bytes(const struct update *cut)
{
    double bits = cut->count, of = P;
    for (int at = 1; at <= LEVEL_MAX; at++) {
        double listed = 0;
        for (uint32_t i = 0; i < cut->count; i++)
            listed += abs(cut->level[i]) >= at;
        bits += bits_of_choice(listed, of);
        of = listed;
    }
    return bits / 8;
}

/* Chooses tau by whole bins of the histogram. */
static float choose(uint32_t count_max, size_t budget_bytes)
{
    (void)survey(0);
    return threshold_choose(bins, 0, P, count_max, budget_bytes).tau;
}

/* Chooses tau, which may divide a bin. */
static float choose_finely(uint32_t count_max, size_t budget_bytes)
{
    uint32_t parts[BIN_PARTS];
    const uint32_t picked = survey(0);
    struct threshold chosen = threshold_choose(bins, 0, P, count_max, budget_bytes);
    if (chosen.split == 0)
        return chosen.tau;
    backend->exchange->refine(backend, picked, candidates, weights_flat(weights), base,
                              chosen.split, parts);
    threshold_split(&chosen, bins, parts, P, count_max, budget_bytes);
    return chosen.tau;
}

/* Cuts a copy of the weights at tau, with at most `capacity` entries. */
static struct update cut_some(float tau, uint32_t capacity)
{
    memcpy(w_before, weights, sizeof weights);
    memcpy(base_before, base, sizeof base);
    struct update cut = {.tau = tau, .amount = 1, .index = index_, .level = level};
    cut_all(capacity, &cut);
    memcpy(weights, w_before, sizeof weights);
    memcpy(base, base_before, sizeof base);
    return cut;
}

static struct update cut_at(float tau)
{
    return cut_some(tau, P);
}

static void must_fit(float (*choose_by)(uint32_t count_max, size_t budget_bytes))
{
    const size_t budgets[] = {300, 1000, 4000, 20000, 100000};
    const uint32_t counts[] = {10, 500, 2000, P};
    for (int shape = 0; shape < SHAPES; shape++) {
        fill((enum shape_of)shape);
        for (size_t b = 0; b < sizeof budgets / sizeof budgets[0]; b++)
            for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
                const float tau = choose_by(counts[c], budgets[b]);
                if (tau == 0)
                    continue;
                assert_true(tau <= TAU_MAX);
                const struct update cut = cut_some(tau, counts[c]);
                assert_in_range(cut.count, 1, counts[c]);
                if (tau < TAU_MAX && cut_at(tau).count > counts[c])
                    fail_msg("shape %d: more than %u entries", shape, counts[c]);
                if (tau < TAU_MAX && !(entropy_bytes(&cut) <= (double)budgets[b]))
                    fail_msg("shape %d: %g bytes for %zu", shape, entropy_bytes(&cut), budgets[b]);
            }
    }
}

static void a_cut_fits_count_and_budget(void **state)
{
    (void)state;
    must_fit(choose);
    must_fit(choose_finely);
}

/* Diverged weights are published step by step. */
static void more_residuals_above_tau_max_than_may_be_published_give_tau_max(void **state)
{
    (void)state;
    for (uint32_t c = 0; c < P; c++) {
        base[c] = 0;
        weights[c] = c % 2 ? -40.0f : 40.0f;
    }
    assert_true(choose(P / 10, 20000) == TAU_MAX);
    assert_int_equal(cut_some(TAU_MAX, P / 10).count, P / 10);
}

/* Estimates the bytes of rumors: the entropy, six bytes for each layer of levels, and a head. */
static double rumor_bytes(const struct update *cut)
{
    int layers = 0;
    for (uint32_t i = 0; i < cut->count; i++)
        layers = abs(cut->level[i]) > layers ? abs(cut->level[i]) : layers;
    return 1.03 * entropy_bytes(cut) + 6 * layers + 150;
}

static double published(const struct update *cut)
{
    double levels = 0;
    for (uint32_t i = 0; i < cut->count; i++)
        levels += abs(cut->level[i]);
    return levels * (double)cut->tau;
}

static void a_budget_is_used(void **state)
{
    (void)state;
    const size_t budgets[] = {1000, 4000, 20000};
    for (int shape = GAUSS; shape <= LAPLACE; shape++) {
        fill((enum shape_of)shape);
        for (size_t b = 0; b < sizeof budgets / sizeof budgets[0]; b++) {
            const struct update cut = cut_at(choose(P, budgets[b]));
            if (!(rumor_bytes(&cut) >= 0.85 * (double)budgets[b]))
                fail_msg("shape %d: %g of %zu bytes", shape, rumor_bytes(&cut), budgets[b]);
            const struct update fine = cut_at(choose_finely(P, budgets[b]));
            if (!(rumor_bytes(&fine) >= 0.92 * (double)budgets[b]))
                fail_msg("shape %d: finely %g of %zu bytes", shape, rumor_bytes(&fine), budgets[b]);
        }
    }
}

/* Entries published at tau accumulate just below it, so one bin has more entries than fit. */
static void a_bin_that_exceeds_the_budget_is_published_in_part(void **state)
{
    (void)state;
    struct rng rng = rng_new(5, 1);
    memset(base, 0, sizeof base);
    /* All odd entries are in one bin of the histogram, from 0.01001 to 0.01025. */
    for (uint32_t c = 0; c < P; c++)
        weights[c] = c % 2 ? (float)(0.0101 + 0.00005 * rng_uniform(&rng)) : 0;
    assert_true(choose(P, 2000) == 0);
    const struct update by_bytes = cut_at(choose_finely(P, 2000));
    assert_true(rumor_bytes(&by_bytes) > 1900 && rumor_bytes(&by_bytes) <= 2010);
    const struct update by_count = cut_at(choose_finely(2000, 1 << 20));
    assert_in_range(by_count.count, 1900, 2000);
    weights[7] = 0.02f; /* with whole bins, only this entry is published */
    assert_int_equal(cut_at(choose(P, 2000)).count, 1);
    const struct update with_one_above = cut_at(choose_finely(P, 2000));
    assert_true(rumor_bytes(&with_one_above) > 1900 && rumor_bytes(&with_one_above) <= 2010);
}

/* Dividing a bin far below would publish more entries, but with truncated levels. */
static void a_split_that_would_publish_less_is_not_made(void **state)
{
    (void)state;
    memset(base, 0, sizeof base);
    for (uint32_t c = 0; c < P; c++)
        weights[c] = c < 50 ? 0.5f : 0.0001f + 1e-9f * (float)c;
    const float tau = choose(60, 1 << 20);
    assert_true(tau > 0.003f);
    assert_float_equal(choose_finely(60, 1 << 20), tau, 0);
}

static void no_other_tau_that_fits_publishes_much_more(void **state)
{
    (void)state;
    const size_t budgets[] = {1000, 4000, 20000, 1000000};
    for (int shape = GAUSS; shape <= TWO_SIZES; shape++) {
        fill((enum shape_of)shape);
        for (size_t b = 0; b < sizeof budgets / sizeof budgets[0]; b++) {
            const float tau = choose(P, budgets[b]);
            if (tau == 0)
                continue;
            const struct update chosen = cut_at(tau);
            const double mass = published(&chosen);
            for (float other = 0.5f; other > 1e-7f; other *= 0.9f) {
                const struct update cut = cut_at(other);
                if (published(&cut) > 1.1 * mass && rumor_bytes(&cut) < 0.95 * (double)budgets[b])
                    fail_msg("shape %d, %zu bytes: %g publishes %g, chosen %g publishes %g", shape,
                             budgets[b], (double)other, published(&cut), (double)tau, mass);
            }
        }
    }
}

static void more_budget_or_more_entries_never_raise_tau(void **state)
{
    (void)state;
    for (int shape = 0; shape < SHAPES; shape++) {
        fill((enum shape_of)shape);
        float last = INFINITY;
        for (size_t budget = 200; budget < 200000; budget += budget / 5) {
            const float tau = choose(P, budget);
            assert_true(tau == 0 ? last == INFINITY : tau <= last);
            last = tau > 0 ? tau : last;
        }
        last = INFINITY;
        for (uint32_t count = 1; count < P; count += 1 + count / 5) {
            const float tau = choose(count, 1 << 20);
            assert_true(tau == 0 ? last == INFINITY : tau <= last);
            last = tau > 0 ? tau : last;
        }
    }
}

static void nothing_is_chosen_where_nothing_can_be_published(void **state)
{
    (void)state;
    memset(weights, 0, sizeof weights);
    memset(base, 0, sizeof base);
    assert_true(choose(P, 1 << 20) == 0);
    for (uint32_t c = 0; c < P; c++)
        weights[c] = c % 2 ? NAN : INFINITY;
    assert_true(choose(P, 1 << 20) == 0);
    fill(EQUAL);
    assert_true(choose(P - 1, 1 << 20) == 0); /* equal residuals are published all or not at all */
    assert_true(choose(P, 100) == 0);
    assert_true(choose(P, 1 << 20) > 0);
}

static void one_residual_alone_is_published(void **state)
{
    (void)state;
    const float sizes[] = {1e-7f, 0.001f, 0.5f, -0.5f, 1.0f, 3.0f};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        memset(weights, 0, sizeof weights);
        memset(base, 0, sizeof base);
        weights[P / 2] = sizes[i];
        const struct update cut = cut_at(choose(1, 300));
        assert_int_equal(cut.count, 1);
        assert_int_equal(cut.index[0], P / 2);
        assert_int_equal(cut.level[0] > 0, sizes[i] > 0);
    }
}

/* A survey with a floor gives the same tau as one without, or reports that tau is below the floor.
 */
static void a_floor_changes_no_tau(void **state)
{
    (void)state;
    const size_t budgets[] = {400, 3000, 20000};
    uint32_t same = 0, below = 0;
    for (int shape = 0; shape < SHAPES; shape++) {
        fill((enum shape_of)shape);
        for (size_t b = 0; b < sizeof budgets / sizeof budgets[0]; b++) {
            const float tau = choose(P / 10, budgets[b]);
            for (float at = 0.125f; tau > 0 && at <= 8; at *= 2) {
                const float floor = threshold_floor(tau * at);
                (void)survey(floor);
                const float found = threshold_choose(bins, floor, P, P / 10, budgets[b]).tau;
                if (found == TAU_BELOW)
                    below++;
                else
                    assert_float_equal(found, tau, 0);
                same += found > 0;
                assert_true(at >= 0.5f || found > 0 || tau == TAU_MAX || shape == TWO_SIZES);
                assert_true(floor <= tau || found == TAU_BELOW || tau == TAU_MAX);
            }
        }
    }
    assert_true(same > 20);
    assert_true(below > 20);
}

static void a_floor_lies_a_sixth_below(void **state)
{
    (void)state;
    for (float tau = 1e-20f; tau < 1; tau *= 3)
        assert_true(threshold_floor(tau) > 0.74f * tau && threshold_floor(tau) < 0.87f * tau);
    assert_true(threshold_floor(0) <= 0);
}

static void measured_bytes_correct_the_estimate(void **state)
{
    (void)state;
    struct size_ratio ratio = {.last = 0};
    assert_int_equal(size_ratio_budget(&ratio, 2000, 9000), 2000);
    size_ratio_learn(&ratio, 700); /* size of a publication without an estimate */
    assert_int_equal(size_ratio_budget(&ratio, 2000, 9000), 2000);
    ratio.last = 4000;
    size_ratio_learn(&ratio, 2000);
    assert_int_equal(size_ratio_budget(&ratio, 2000, 9000), 4000);
    assert_int_equal(size_ratio_budget(&ratio, 2000, 3000), 3000);
    assert_int_equal(size_ratio_budget(&ratio, 2000, 0), 2000);
    /* The budget grows by at most the 2000 bytes that the last publication saved. */
    assert_int_equal(size_ratio_budget(&ratio, 50000, 90000), 52000);
    ratio.last = 1000;
    size_ratio_learn(&ratio, 0); /* an unknown size drops the estimate */
    size_ratio_learn(&ratio, 10000);
    assert_int_equal(size_ratio_budget(&ratio, 2000, 9000), 4000);
    for (int i = 0; i < 20; i++) {
        ratio.last = 1000;
        size_ratio_learn(&ratio, 1100);
    }
    assert_in_range(size_ratio_budget(&ratio, 2200, 9000), 1999, 2001);
    ratio = (struct size_ratio){.last = 1e6};
    size_ratio_learn(&ratio, 1);
    /* The learned ratio is at least a sixteenth. */
    assert_int_equal(size_ratio_budget(&ratio, 2000, 1000000), 32000);
}

/* Checks the estimated size of the chosen publication, for whole bins and divided ones. */
static void a_chosen_tau_has_an_estimate_within_the_budget(void **state)
{
    (void)state;
    for (int shape = 0; shape < SHAPES; shape++) {
        uint32_t parts[BIN_PARTS];
        fill((enum shape_of)shape);
        const uint32_t picked = survey(0);
        struct threshold chosen = threshold_choose(bins, 0, P, P, 4000);
        assert_true(chosen.tau > 0 ? chosen.bytes > 0 || chosen.tau == TAU_MAX : chosen.bytes <= 0);
        assert_true(chosen.bytes <= 4000);
        if (chosen.split == 0)
            continue;
        const double before = chosen.bytes;
        backend->exchange->refine(backend, picked, candidates, weights_flat(weights), base,
                                  chosen.split, parts);
        threshold_split(&chosen, bins, parts, P, P, 4000);
        assert_true(chosen.bytes >= before && chosen.bytes <= 4000);
        const struct update cut = cut_at(chosen.tau);
        /* besides the entropy: codes, the rumor's head, heads of layers */
        if (chosen.tau > 0) {
            assert_true(chosen.bytes >= entropy_bytes(&cut));
            assert_true(chosen.bytes <= 1.1 * entropy_bytes(&cut) + 150 + 6 * LEVEL_MAX);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cut_fits_count_and_budget),
        cmocka_unit_test(more_residuals_above_tau_max_than_may_be_published_give_tau_max),
        cmocka_unit_test(a_budget_is_used),
        cmocka_unit_test(a_bin_that_exceeds_the_budget_is_published_in_part),
        cmocka_unit_test(a_split_that_would_publish_less_is_not_made),
        cmocka_unit_test(no_other_tau_that_fits_publishes_much_more),
        cmocka_unit_test(more_budget_or_more_entries_never_raise_tau),
        cmocka_unit_test(nothing_is_chosen_where_nothing_can_be_published),
        cmocka_unit_test(one_residual_alone_is_published),
        cmocka_unit_test(a_floor_changes_no_tau),
        cmocka_unit_test(a_floor_lies_a_sixth_below),
        cmocka_unit_test(measured_bytes_correct_the_estimate),
        cmocka_unit_test(a_chosen_tau_has_an_estimate_within_the_budget),
    };
    RUN_ON_EACH_DEVICE(tests, host_backend_opens, host_backend_closes);
}
