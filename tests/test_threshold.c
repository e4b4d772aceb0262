/* The threshold, and the backend's operations of the exchange against naive references. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backend.h"
#include "digest.h"
#include "rng.h"
#include "threshold.h"

#define P 20000

static struct backend *backend;
static float w[P], w_before[P];
static int32_t base[P], base_before[P], since[P];
static uint32_t bins[HISTOGRAM_BINS];
static uint32_t picks[P];
static uint32_t index_[P];
static int8_t level[P];

static double normal(struct rng *rng)
{
    const double u = 1 - rng_uniform(rng), v = rng_uniform(rng);
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

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
        w[c] = residual_of(shape, &rng);
        base[c] = 0;
    }
}

static double bits_of_choice(double m, double n)
{
    const double p = m / n;
    return m <= 0 || m >= n ? 0 : -n * (p * log2(p) + (1 - p) * log2(1 - p));
}

/* The entropy of the cut, coding each level as a set among the level below it, and the signs. */
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

/* What a telling looks at, without a step on. */
static uint32_t survey(float floor)
{
    const struct survey survey = {.floor = floor, .picks = picks, .picks_max = P};
    memcpy(since, base, sizeof since);
    return backend->survey(backend, &survey, P, w, base, since, bins);
}

static float choose(uint32_t count_max, size_t budget_bytes)
{
    (void)survey(0);
    return threshold_choose(bins, 0, P, count_max, budget_bytes);
}

static void cut_all(uint32_t capacity, struct update *cut)
{
    for (uint32_t c = 0; c < P; c++)
        picks[c] = c;
    backend->cut(backend, P, picks, w, base, capacity, cut);
}

/* Cut a copy at tau, at most so many entries. */
static struct update cut_some(float tau, uint32_t capacity)
{
    memcpy(w_before, w, sizeof w);
    memcpy(base_before, base, sizeof base);
    struct update cut = {.tau = tau, .amount = 1, .index = index_, .level = level};
    cut_all(capacity, &cut);
    memcpy(w, w_before, sizeof w);
    memcpy(base, base_before, sizeof base);
    return cut;
}

static struct update cut_at(float tau)
{
    return cut_some(tau, P);
}

static void what_is_cut_fits_count_and_budget(void **state)
{
    (void)state;
    const size_t budgets[] = {300, 1000, 4000, 20000, 100000};
    const uint32_t counts[] = {10, 500, 2000, P};
    for (int shape = 0; shape < SHAPES; shape++) {
        fill((enum shape_of)shape);
        for (size_t b = 0; b < sizeof budgets / sizeof budgets[0]; b++)
            for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
                const float tau = choose(counts[c], budgets[b]);
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

/* Weights that ran away: they are told, step by step, rather than never again. */
static void more_residuals_above_tau_max_than_may_be_told_give_tau_max(void **state)
{
    (void)state;
    for (uint32_t c = 0; c < P; c++) {
        base[c] = 0;
        w[c] = c % 2 ? -40.0f : 40.0f;
    }
    assert_true(choose(P / 10, 20000) == TAU_MAX);
    assert_int_equal(cut_some(TAU_MAX, P / 10).count, P / 10);
}

/* About what the rumors take: bits, six bytes for each layer of levels, a head. */
static double rumor_bytes(const struct update *cut)
{
    int layers = 0;
    for (uint32_t i = 0; i < cut->count; i++)
        layers = abs(cut->level[i]) > layers ? abs(cut->level[i]) : layers;
    return 1.03 * entropy_bytes(cut) + 6 * layers + 150;
}

static double told(const struct update *cut)
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
        }
    }
}

static void no_other_tau_that_fits_tells_much_more(void **state)
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
            const double mass = told(&chosen);
            for (float other = 0.5f; other > 1e-7f; other *= 0.9f) {
                const struct update cut = cut_at(other);
                if (told(&cut) > 1.1 * mass && rumor_bytes(&cut) < 0.95 * (double)budgets[b])
                    fail_msg("shape %d, %zu bytes: %g tells %g, chosen %g tells %g", shape,
                             budgets[b], (double)other, told(&cut), (double)tau, mass);
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

static void nothing_is_chosen_where_nothing_can_be_told(void **state)
{
    (void)state;
    memset(w, 0, sizeof w);
    memset(base, 0, sizeof base);
    assert_true(choose(P, 1 << 20) == 0);
    for (uint32_t c = 0; c < P; c++)
        w[c] = c % 2 ? NAN : INFINITY;
    assert_true(choose(P, 1 << 20) == 0);
    fill(EQUAL);
    assert_true(choose(P - 1, 1 << 20) == 0); /* all or none */
    assert_true(choose(P, 100) == 0);
    assert_true(choose(P, 1 << 20) > 0);
}

static void one_residual_alone_is_told(void **state)
{
    (void)state;
    const float sizes[] = {1e-7f, 0.001f, 0.5f, -0.5f, 1.0f, 3.0f};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        memset(w, 0, sizeof w);
        memset(base, 0, sizeof base);
        w[P / 2] = sizes[i];
        const struct update cut = cut_at(choose(1, 300));
        assert_int_equal(cut.count, 1);
        assert_int_equal(cut.index[0], P / 2);
        assert_int_equal(cut.level[0] > 0, sizes[i] > 0);
    }
}

/* Operations. */

static float residual_at(uint32_t c)
{
    return w[c] - QUANTUM * (float)base[c];
}

static void random_state(uint64_t seed)
{
    struct rng rng = rng_new(seed, 3);
    for (uint32_t c = 0; c < P; c++) {
        base[c] = (int32_t)(rng_next(&rng) >> 40) - (1 << 23);
        since[c] = (int32_t)(rng_next(&rng) >> 40) - (1 << 23);
        w[c] = QUANTUM * (float)base[c] + (float)(0.01 * normal(&rng));
    }
    w[7] = NAN;
    w[8] = INFINITY;
    w[9] = -INFINITY;
    memcpy(w_before, w, sizeof w);
    memcpy(base_before, base, sizeof base);
}

static uint32_t bits_at(uint32_t c)
{
    const float r = fabsf(residual_at(c));
    uint32_t bits;
    memcpy(&bits, &r, sizeof bits);
    return bits;
}

static void a_survey_counts_and_picks_what_is_not_below_the_floor(void **state)
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
            assert_int_equal(picks[at++], c);
        }
        assert_int_equal(picked, at);
        assert_memory_equal(bins, expected, sizeof bins);
    }
}

static void a_survey_notes_no_more_than_there_is_room_for(void **state)
{
    (void)state;
    random_state(1);
    const uint32_t all = survey(0.01f);
    assert_true(all > 2000);
    const struct survey some = {.floor = 0.01f, .picks = picks, .picks_max = 1500};
    picks[1500] = 0xABCD;
    assert_int_equal(backend->survey(backend, &some, P, w, base, since, bins), all);
    assert_int_equal(picks[1500], 0xABCD);
    assert_in_range(picks[1499], 1499, P - 1);
}

static void a_cut_looks_at_nothing_else_than_what_was_picked(void **state)
{
    (void)state;
    random_state(1);
    const uint32_t some[] = {3, 7, 1000, P - 1};
    w[3] = w[1000] = w[P - 1] = 500;
    struct update cut = {.tau = 0.1f, .amount = 1, .index = index_, .level = level};
    backend->cut(backend, 4, some, w, base, P, &cut);
    assert_int_equal(cut.count, 3);
    assert_int_equal(cut.index[1], 1000);
}

/* With a floor the answer is the same, or that it lies below. */
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
                const float found = threshold_choose(bins, floor, P, P / 10, budgets[b]);
                if (found == TAU_BELOW)
                    below++;
                else
                    assert_float_equal(found, tau, 0);
                same += found > 0;
                assert_true(at >= 1 || found > 0 || tau == TAU_MAX || shape == TWO_SIZES);
                assert_true(floor <= tau || found == TAU_BELOW || tau == TAU_MAX);
            }
        }
    }
    assert_true(same > 20);
    assert_true(below > 20);
}

static void a_floor_lies_a_quarter_below(void **state)
{
    (void)state;
    for (float tau = 1e-20f; tau < 1; tau *= 3)
        assert_true(threshold_floor(tau) > 0.7f * tau && threshold_floor(tau) < 0.83f * tau);
    assert_true(threshold_floor(0) <= 0);
}

/* By division in double and by hand, entry after entry. */
static int level_expected(uint32_t c, float tau)
{
    const float r = w_before[c] - QUANTUM * (float)base_before[c];
    if (!isfinite(r) || fabsf(r) < tau)
        return 0;
    const float levels = truncf(r / tau);
    return levels > LEVEL_MAX ? LEVEL_MAX : levels < -LEVEL_MAX ? -LEVEL_MAX : (int)levels;
}

static void a_cut_tells_the_large_residuals_in_order(void **state)
{
    (void)state;
    const float taus[] = {0.0001f, 0.003f, 0.02f};
    for (size_t t = 0; t < sizeof taus / sizeof taus[0]; t++) {
        random_state(2 + t);
        const uint32_t amount = (uint32_t)(0.3f * taus[t] / QUANTUM);
        struct update cut = {.tau = taus[t], .amount = amount, .index = index_, .level = level};
        cut_all(P, &cut);
        uint32_t at = 0;
        for (uint32_t c = 0; c < P; c++) {
            const int k = level_expected(c, taus[t]);
            assert_int_equal(base[c], base_before[c] + (int32_t)amount * k);
            if (k == 0) {
                assert_memory_equal(&w[c], &w_before[c], sizeof w[c]);
                continue;
            }
            assert_int_equal(cut.index[at], c);
            assert_int_equal(cut.level[at++], k);
            const double moved = ((double)QUANTUM * amount - (double)taus[t]) * k;
            assert_true(fabs((double)w[c] - (double)w_before[c] - moved) < 1e-6);
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

static void hearing_moves_base_and_weights_alike(void **state)
{
    (void)state;
    random_state(6);
    uint32_t at[] = {0, 5, 100, P - 1};
    int8_t levels[] = {1, -3, LEVEL_MAX, -LEVEL_MAX};
    const struct update update = {
        .tau = 0.1f, .amount = 5000, .count = 4, .index = at, .level = levels};
    backend->hear(backend, &update, w, base);
    uint32_t next = 0;
    for (uint32_t c = 0; c < P; c++) {
        const int k = next < 4 && at[next] == c ? levels[next++] : 0;
        assert_int_equal(base[c], base_before[c] + 5000 * k);
        if (k == 0)
            assert_memory_equal(&w[c], &w_before[c], sizeof w[c]);
        else
            assert_true(fabs((double)w[c] - (double)w_before[c] - 5000.0 * (double)QUANTUM * k) <
                        1e-6);
    }
}

static void a_survey_steps_on_with_the_base_first(void **state)
{
    (void)state;
    random_state(7);
    base[20] = INT32_MIN; /* the base wrapped since: a step of 3 */
    since[20] = INT32_MAX - 2;
    since[21] = base[21];
    memcpy(base_before, base, sizeof base);
    static int32_t since_before[P];
    memcpy(since_before, since, sizeof since);
    const struct survey survey = {.beta = 0.3f, .floor = 1000, .picks = picks, .picks_max = P};
    const uint32_t picked = backend->survey(backend, &survey, P, w, base, since, bins);
    assert_int_equal(picked, 3); /* what is no number, after the step */
    for (uint32_t c = 0; c < P; c++) {
        const double step = c == 20 ? 3 : (double)base[c] - (double)since_before[c];
        assert_int_equal(base[c], base_before[c]);
        assert_int_equal(since[c], base[c]);
        if (isfinite(w_before[c]))
            assert_true(fabs((double)w[c] - (double)w_before[c] - 0.3 * (double)QUANTUM * step) <
                        1e-6);
    }
    assert_memory_equal(&w[21], &w_before[21], sizeof w[21]);
}

static void the_digest_is_that_of_its_entries(void **state)
{
    (void)state;
    random_state(8);
    uint64_t high = 0, low = 0;
    for (uint32_t c = 0; c < P; c++) {
        const uint64_t one = digest_of_entry(c, 1);
        assert_int_equal(one & 1 & one >> 32, 1); /* odd, both */
        high += (one >> 32) * (uint32_t)base[c];
        low += (one & UINT32_MAX) * (uint32_t)base[c];
    }
    assert_int_equal(backend->digest(backend, P, base), high << 32 | (low & UINT32_MAX));
    assert_int_equal(backend->digest(backend, 0, base), 0);
}

int main(void)
{
    backend = backend_cpu(1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_cut_fits_count_and_budget),
        cmocka_unit_test(more_residuals_above_tau_max_than_may_be_told_give_tau_max),
        cmocka_unit_test(a_budget_is_used),
        cmocka_unit_test(no_other_tau_that_fits_tells_much_more),
        cmocka_unit_test(more_budget_or_more_entries_never_raise_tau),
        cmocka_unit_test(nothing_is_chosen_where_nothing_can_be_told),
        cmocka_unit_test(one_residual_alone_is_told),
        cmocka_unit_test(a_floor_changes_no_tau),
        cmocka_unit_test(a_floor_lies_a_quarter_below),
        cmocka_unit_test(a_survey_counts_and_picks_what_is_not_below_the_floor),
        cmocka_unit_test(a_survey_notes_no_more_than_there_is_room_for),
        cmocka_unit_test(a_survey_steps_on_with_the_base_first),
        cmocka_unit_test(a_cut_looks_at_nothing_else_than_what_was_picked),
        cmocka_unit_test(a_cut_tells_the_large_residuals_in_order),
        cmocka_unit_test(a_cut_stops_at_its_capacity),
        cmocka_unit_test(hearing_moves_base_and_weights_alike),
        cmocka_unit_test(the_digest_is_that_of_its_entries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
