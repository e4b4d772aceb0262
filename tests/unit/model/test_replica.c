/* The exchange between replicas: what is published, applied and kept. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/digest.h"
#include "base/error.h"
#include "base/rng.h"
#include "exchange/replica.h"
#include "support/model/each_device.h"

#define P            700
#define ORIGINS      3
#define PUBLICATIONS 2 /* publications of each origin */

static struct arena arena;
static float init[P], w_before[P], w[P];
static int32_t base_before[P], base[P];

static const struct publish_terms TERMS = {
    .budget_bytes = 100000, .share = 0.25, .gain = 1, .beta = 0.3};

static int begin(void **state)
{
    (void)state;
    arena_init(&arena, (size_t)64 << 20);
    struct rng rng = rng_new(1, 1);
    for (int c = 0; c < P; c++)
        init[c] = (float)(0.2 * rng_uniform(&rng) - 0.1);
    return 0;
}

static int end(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

static struct replica replica_new(uint32_t density_max)
{
    struct replica replica;
    replica_init(&replica, &arena, backend, P, init, density_max);
    return replica;
}

static void look(const struct replica *replica, float *weights, int32_t *units)
{
    replica_read_weights(replica, weights);
    replica_read_units(replica, units);
}

/* Stands for training: moves every weight a little, and some weights more. */
static void learn_something(struct replica *replica, struct rng *rng)
{
    look(replica, w, base);
    for (int c = 0; c < P; c++) {
        const double x = 2 * rng_uniform(rng) - 1;
        w[c] += (float)(0.01 * x * x * x);
    }
    replica_write_weights(replica, w);
}

static struct update copy_of(const struct update *update)
{
    struct update copy = *update;
    copy.index = arena_alloc(&arena, update->count + 1, sizeof *copy.index);
    copy.level = arena_alloc(&arena, update->count + 1, sizeof *copy.level);
    memcpy(copy.index, update->index, update->count * sizeof *copy.index);
    memcpy(copy.level, update->level, update->count);
    return copy;
}

static void must_be_equal(const struct replica *a, const struct replica *b)
{
    look(a, w, base);
    look(b, w_before, base_before);
    assert_memory_equal(base, base_before, sizeof base);
    assert_int_equal(replica_digest(a), replica_digest(b));
}

static void a_replica_begins_with_no_residual(void **state)
{
    (void)state;
    struct replica replica = replica_new(P);
    look(&replica, w, base);
    for (int c = 0; c < P; c++) {
        assert_true(w[c] == QUANTUM * (float)base[c]);
        assert_true(fabsf(w[c] - init[c]) <= QUANTUM);
    }
    assert_int_equal(replica_publish(&replica, &TERMS)->count, 0);
    replica_free(&replica);
}

static void withheld_entries_are_published_later(void **state)
{
    (void)state;
    static float learned[P], saved[P], after[P];
    static int32_t saved_base[P];
    const struct publish_terms some = {
        .budget_bytes = 300, .share = 1, .gain = 1, .withheld = 0.75};
    const struct publish_terms all = {
        .budget_bytes = 100000, .share = 1, .gain = 1, .withheld = 0.75};
    struct learner_state copy = {.parameters = P, .base = saved_base, .weights = saved};
    struct replica replica = replica_new(P);
    struct rng rng = rng_new(5, 5);
    replica_allow_withholding(&replica);
    learn_something(&replica, &rng);
    look(&replica, learned, base);
    assert_in_range(replica_publish(&replica, &some)->count, 1, P / 2);
    look(&replica, w, base);
    for (int c = 0; c < P; c++) {
        const double left = (double)learned[c] - (double)QUANTUM * base[c];
        const double stays = (double)w[c] - (double)QUANTUM * base[c];
        /* rounding error of bfloat16 */
        assert_true(fabs(stays - 0.25 * left) < 0x1p-8 * 0.75 * fabs(left) + 1e-7);
    }
    replica_save(&replica, &copy);
    assert_memory_equal(saved, w, sizeof w);
    const float tau = replica_publish(&replica, &all)->tau;
    replica_release(&replica);
    look(&replica, after, base);
    for (int c = 0; c < P; c++) {
        assert_true(fabsf(after[c] - learned[c]) < 2e-7f);
        assert_true(fabsf(after[c] - QUANTUM * (float)base[c]) <= tau + 2e-7f);
    }
    replica_free(&replica);
}

static void withheld_entries_are_dropped_once_nothing_is_withheld(void **state)
{
    (void)state;
    static float kept[P];
    static int32_t kept_base[P];
    const struct publish_terms some = {
        .budget_bytes = 300, .share = 1, .gain = 1, .withheld = 0.75};
    const struct publish_terms last = {.budget_bytes = 100000, .share = 1, .gain = 1, .tau = 1};
    struct replica replica = replica_new(P);
    struct rng rng = rng_new(6, 6);
    replica_allow_withholding(&replica);
    learn_something(&replica, &rng);
    assert_in_range(replica_publish(&replica, &some)->count, 1, P / 2);
    look(&replica, kept, kept_base);
    assert_int_equal(replica_publish(&replica, &last)->count, 0);
    replica_release(&replica);
    look(&replica, w, base);
    assert_memory_equal(w, kept, sizeof w);
    assert_memory_equal(base, kept_base, sizeof base);
    replica_free(&replica);
}

/* [origin] its publications, in order */
static struct update said[ORIGINS][PUBLICATIONS];

/* Applies the publications in every order that keeps the order within each origin. next[origin]:
 * number of its publications that are applied. Returns the number of orders. */
static int apply_in_every_order(struct replica *as, int *order, int length, int *next)
{
    if (length == ORIGINS * PUBLICATIONS) {
        struct replica replica = replica_new(P);
        int at[ORIGINS] = {0};
        for (int i = 0; i < length; i++)
            replica_apply(&replica, &said[order[i]][at[order[i]]++], 0);
        must_be_equal(&replica, as);
        replica_free(&replica);
        return 1;
    }
    int orders = 0;
    for (int origin = 0; origin < ORIGINS; origin++) {
        if (next[origin] == PUBLICATIONS)
            continue;
        order[length] = origin;
        next[origin]++;
        orders += apply_in_every_order(as, order, length + 1, next);
        next[origin]--;
    }
    return orders;
}

static void in_whatever_order_rumors_are_applied_the_base_is_the_same(void **state)
{
    (void)state;
    struct replica origins[ORIGINS];
    struct rng rng = rng_new(2, 2);
    for (int i = 0; i < ORIGINS; i++) {
        origins[i] = replica_new(P);
        for (int t = 0; t < PUBLICATIONS; t++) {
            learn_something(&origins[i], &rng);
            said[i][t] = copy_of(replica_publish(&origins[i], &TERMS));
            assert_true(said[i][t].count > P / 2);
        }
    }
    /* After publishing, each replica applies the others' publications, the last origin first. */
    for (int i = 0; i < ORIGINS; i++)
        for (int j = ORIGINS - 1; j >= 0; j--)
            for (int t = 0; t < PUBLICATIONS && j != i; t++)
                replica_apply(&origins[i], &said[j][t], 0);
    for (int i = 1; i < ORIGINS; i++)
        must_be_equal(&origins[0], &origins[i]);
    int order[ORIGINS * PUBLICATIONS], next[ORIGINS] = {0};
    assert_int_equal(apply_in_every_order(&origins[0], order, 0, next), 90);
    for (int i = 0; i < ORIGINS; i++)
        replica_free(&origins[i]);
}

static void learners_that_publish_and_apply_by_turns_stay_equal(void **state)
{
    (void)state;
    struct replica one = replica_new(P), other = replica_new(P);
    struct rng rng = rng_new(3, 3);
    for (int turn = 0; turn < 50; turn++) {
        learn_something(&one, &rng);
        learn_something(&other, &rng);
        const struct update *a = replica_publish(&one, &TERMS);
        const struct update *b = replica_publish(&other, &TERMS);
        replica_apply(&one, b, (float)TERMS.beta);
        replica_apply(&other, a, (float)TERMS.beta);
        must_be_equal(&one, &other);
    }
    replica_free(&one);
    replica_free(&other);
}

/* Publishes with a replica that has applied another replica's update. published[c]: tau · level.
 * drift[c]: how far the weight moves beyond the base. Returns the update. w_before and base_before
 * receive the earlier state, w and base the later one. */
static struct update publish_after_applying(struct replica *replica,
                                            const struct publish_terms *terms, double *drift,
                                            double *published)
{
    struct rng rng = rng_new(4, 4);
    struct replica other = replica_new(P);
    learn_something(&other, &rng);
    const struct update *applied = replica_publish(&other, terms);
    replica_apply(replica, applied, (float)terms->beta);
    learn_something(replica, &rng);
    look(replica, w_before, base_before);
    const struct update update = copy_of(replica_publish(replica, terms));
    look(replica, w, base);
    memset(published, 0, P * sizeof *published);
    memset(drift, 0, P * sizeof *drift);
    for (uint32_t i = 0; i < update.count; i++) {
        published[update.index[i]] = (double)update.tau * update.level[i];
        drift[update.index[i]] = terms->beta * (double)QUANTUM * update.amount * update.level[i];
    }
    replica_free(&other);
    return update;
}

static void published_and_residual_are_what_was_produced(void **state)
{
    (void)state;
    static double drift[P], published[P];
    const uint32_t budgets[] = {400, 1000, 100000};
    const double betas[] = {0, 0.3, 0.7};
    for (int i = 0; i < 3; i++) {
        struct replica replica = replica_new(P);
        const struct publish_terms terms = {
            .budget_bytes = budgets[i], .share = 0.3, .gain = 1, .beta = betas[i]};
        const struct update update = publish_after_applying(&replica, &terms, drift, published);
        assert_true(update.count > 20);
        for (int c = 0; c < P; c++) {
            const double produced =
                (double)w_before[c] + drift[c] - (double)QUANTUM * base_before[c];
            const double residual = (double)w[c] - (double)QUANTUM * base[c];
            assert_true(fabs(produced - published[c] - residual) < 5e-8);
        }
        replica_free(&replica);
    }
}

static void the_base_moves_by_the_share_and_own_progress_falls_to_it(void **state)
{
    (void)state;
    static double drift[P], published[P];
    struct replica replica = replica_new(P);
    const struct publish_terms terms = {.budget_bytes = 600, .share = 0.2, .gain = 1.5, .beta = 0};
    const struct update update = publish_after_applying(&replica, &terms, drift, published);
    assert_int_equal(update.amount, lrint(0.3 * (double)update.tau / (double)QUANTUM));
    uint32_t at = 0;
    for (uint32_t c = 0; c < P; c++) {
        const int k = at < update.count && update.index[at] == c ? update.level[at++] : 0;
        assert_int_equal(base[c] - base_before[c], (int64_t)update.amount * k);
        const double fall = (double)w_before[c] - (double)w[c];
        const double share = (double)QUANTUM * update.amount * k;
        assert_true(fabs(fall - (published[c] - share)) < 5e-8);
    }
    assert_int_equal(at, update.count);
    replica_free(&replica);
}

static void no_more_is_published_than_allowed(void **state)
{
    (void)state;
    struct rng rng = rng_new(5, 5);
    for (uint32_t density_max = 1; density_max <= P; density_max += 1 + density_max) {
        struct replica replica = replica_new(density_max);
        learn_something(&replica, &rng);
        const struct update *update = replica_publish(&replica, &TERMS);
        assert_in_range(update->count, density_max < 10 ? 0 : density_max / 2, density_max);
        if (update->count > 10) /* the largest entries are chosen, wherever they are */
            assert_true(update->index[update->count - 1] > P / 2);
        replica_free(&replica);
    }
}

/* Rounding leaves residuals far below a quantum. Publishing each as one quantum would amplify
 * noise. */
static void movements_below_the_unit_are_not_published(void **state)
{
    (void)state;
    struct replica replica = replica_new(P);
    look(&replica, w, base);
    for (int c = 0; c < P; c++)
        w[c] += 1e-8f * (float)(c % 3);
    replica_write_weights(&replica, w);
    const uint64_t digest = replica_digest(&replica);
    assert_int_equal(replica_publish(&replica, &TERMS)->count, 0);
    assert_int_equal(replica_digest(&replica), digest);
    replica_free(&replica);
}

static void the_digest_follows_from_the_updates_even_where_the_base_wraps(void **state)
{
    (void)state;
    struct replica replica = replica_new(P);
    uint64_t digest = replica_digest(&replica);
    uint32_t at[] = {3, 4, P - 1};
    int8_t levels[] = {LEVEL_MAX, -LEVEL_MAX, 1};
    const struct update update = {
        .tau = 1, .amount = AMOUNT_MAX, .count = 3, .index = at, .level = levels};
    for (int times = 0; times < 2; times++) {
        replica_apply(&replica, &update, 0);
        for (int i = 0; i < 3; i++) {
            const int level = levels[i];
            digest = digest_add(digest, digest_of_entry(at[i], AMOUNT_MAX * (uint32_t)level));
        }
        assert_int_equal(replica_digest(&replica), digest);
    }
    look(&replica, w, base);
    assert_true(base[4] > 0); /* the base has wrapped */
    uint64_t read = 0;
    for (uint32_t c = 0; c < P; c++)
        read = digest_add(read, digest_of_entry(c, (uint32_t)base[c]));
    assert_int_equal(read, digest);
    replica_free(&replica);
}

static void with_weights_that_are_no_numbers_nothing_is_published(void **state)
{
    (void)state;
    static const float LOST[] = {NAN, INFINITY, -INFINITY};
    struct replica replica = replica_new(P);
    struct rng rng = rng_new(6, 6);
    for (int turn = 0; turn < 3; turn++) {
        learn_something(&replica, &rng);
        assert_true(replica_publish(&replica, &TERMS)->count > 0);
        learn_something(&replica, &rng);
        w[5] = w[P - 1] = LOST[turn];
        replica_write_weights(&replica, w);
        assert_int_equal(replica_publish(&replica, &TERMS)->count, 0);
        assert_int_equal(replica.lost, 2);
        assert_int_equal(replica_reset_to_base(&replica), 5);
        look(&replica, w, base);
        for (int c = 0; c < P; c++)
            assert_true(w[c] == QUANTUM * (float)base[c]);
    }
    assert_int_equal(replica_reset_to_base(&replica), P);
    replica_free(&replica);
}

static void the_base_is_read_as_what_it_stands_for(void **state)
{
    (void)state;
    struct replica replica = replica_new(P);
    static float host[P];
    look(&replica, w, base);
    replica_read_base(&replica, host);
    for (int c = 0; c < P; c++)
        assert_true(host[c] == QUANTUM * (float)base[c]);
    replica_free(&replica);
}

static void weights_written_leave_the_base_and_are_published(void **state)
{
    (void)state;
    struct replica replica = replica_new(P);
    look(&replica, w_before, base_before);
    memcpy(w, w_before, sizeof w);
    w[5] += 0.25f;
    replica_write_weights(&replica, w);
    look(&replica, w_before, base);
    assert_memory_equal(w_before, w, sizeof w);
    assert_memory_equal(base_before, base, sizeof base);
    const struct update *update = replica_publish(&replica, &TERMS);
    assert_int_equal(update->count, 1);
    assert_int_equal(update->index[0], 5);
    assert_true(fabsf(update->tau * (float)update->level[0] - 0.25f) < 0.01f);
    replica_free(&replica);
}

static void a_fixed_threshold_is_published_down_to_whatever_that_takes(void **state)
{
    (void)state;
    struct replica replica = replica_new(P);
    look(&replica, w, base);
    for (uint32_t c = 0; c < P; c++)
        w[c] += c % 2 ? 0.011f : 0.009f;
    replica_write_weights(&replica, w);
    struct publish_terms terms = TERMS;
    terms.tau = 0.01f;
    terms.budget_bytes = 256;
    const struct update *update = replica_publish(&replica, &terms);
    assert_true(update->tau == 0.01f);
    assert_int_equal(update->count, P / 2);
    for (uint32_t i = 0; i < update->count; i++)
        assert_true(update->index[i] == 2 * i + 1 && update->level[i] == 1);
    replica_free(&replica);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

/* All weights grow nearly equally, so all residuals reach tau at about the same time. Publications
 * must still have similar sizes. */
static void must_publish_evenly(uint32_t density_max, uint32_t budget_bytes)
{
    struct replica replica = replica_new(density_max);
    struct rng rng = rng_new(4, 1);
    const struct publish_terms terms = {.budget_bytes = budget_bytes, .share = 1, .gain = 1};
    uint32_t least = P, most = 0;
    for (int round = 0; round < 100; round++) {
        look(&replica, w, base);
        for (int c = 0; c < P; c++)
            w[c] += (float)(0.001 + 0.0005 * rng_uniform(&rng));
        replica_write_weights(&replica, w);
        const uint32_t count = replica_publish(&replica, &terms)->count;
        least = round >= 20 && count < least ? count : least;
        most = round >= 20 && count > most ? count : most;
    }
    replica_free(&replica);
    assert_true(least > 9 * most / 10);
    assert_true(most > 90);
}

static void residuals_below_tau_are_published_within_the_budget(void **state)
{
    (void)state;
    must_publish_evenly(P, 220);
    must_publish_evenly(P / 7, 1 << 20); /* more entries are near tau than can be listed */
}

/* Returns the entries of the last of ten publications. The rumors of the earlier ones took half of
 * the budget. */
static uint32_t count_where_half_is_taken(uint32_t bytes_max)
{
    struct replica replica = replica_new(P);
    struct rng rng = rng_new(9, 1);
    struct publish_terms terms = {
        .budget_bytes = 230, .bytes_max = bytes_max, .share = 1, .gain = 1};
    uint32_t count = 0;
    for (int round = 0; round < 10; round++) {
        learn_something(&replica, &rng);
        count = replica_publish(&replica, &terms)->count;
        terms.last_bytes = 115;
    }
    replica_free(&replica);
    return count;
}

static void smaller_rumors_than_estimated_leave_budget_for_more_entries(void **state)
{
    (void)state;
    const uint32_t usual = count_where_half_is_taken(0);
    assert_true(usual > 0);
    assert_true(count_where_half_is_taken(10000) > 2 * usual);
    assert_int_equal(count_where_half_is_taken(230), usual);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_replica_begins_with_no_residual),
        TEST(withheld_entries_are_published_later),
        TEST(withheld_entries_are_dropped_once_nothing_is_withheld),
        TEST(in_whatever_order_rumors_are_applied_the_base_is_the_same),
        TEST(learners_that_publish_and_apply_by_turns_stay_equal),
        TEST(published_and_residual_are_what_was_produced),
        TEST(the_base_moves_by_the_share_and_own_progress_falls_to_it),
        TEST(no_more_is_published_than_allowed),
        TEST(movements_below_the_unit_are_not_published),
        TEST(the_digest_follows_from_the_updates_even_where_the_base_wraps),
        TEST(with_weights_that_are_no_numbers_nothing_is_published),
        TEST(the_base_is_read_as_what_it_stands_for),
        TEST(weights_written_leave_the_base_and_are_published),
        TEST(a_fixed_threshold_is_published_down_to_whatever_that_takes),
        TEST(residuals_below_tau_are_published_within_the_budget),
        TEST(smaller_rumors_than_estimated_leave_budget_for_more_entries),
    };
    RUN_ON_EACH_DEVICE(tests, device_opens, device_closes);
}
