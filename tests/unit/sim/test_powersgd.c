/* PowerSGD: approximation of matrices by two factors, and steps with them. */
#include <math.h>

#include "crypto/secret.h"
#include "strategies/low_rank.h"
#include "support/sim/strategy_play.h"

#define ROWS    7
#define COLUMNS 11

/* Draws a matrix of this rank. Each further part of rank 1 is about half as large. */
static void draw(float *matrix, uint32_t rank, uint64_t seed)
{
    struct rng rng = rng_new(seed, 0);
    memset(matrix, 0, ROWS * COLUMNS * sizeof *matrix);
    for (uint32_t k = 0; k < rank; k++) {
        float left[ROWS], right[COLUMNS];
        for (int row = 0; row < ROWS; row++)
            left[row] = (float)(rng_uniform(&rng) - 0.5);
        for (int column = 0; column < COLUMNS; column++)
            right[column] = ldexpf((float)(rng_uniform(&rng) - 0.5), -(int)k);
        for (int row = 0; row < ROWS; row++)
            for (int column = 0; column < COLUMNS; column++)
                matrix[row * COLUMNS + column] += left[row] * right[column];
    }
}

static double length(const float *matrix)
{
    double squares = 0;
    for (int c = 0; c < ROWS * COLUMNS; c++)
        squares += (double)matrix[c] * matrix[c];
    return sqrt(squares);
}

/* Returns the length of a - b relative to that of a. */
static double apart(const float *a, const float *b)
{
    float difference[ROWS * COLUMNS];
    for (int c = 0; c < ROWS * COLUMNS; c++)
        difference[c] = a[c] - b[c];
    return length(difference) / length(a);
}

static void assert_orthonormal(const struct low_rank *factors)
{
    for (uint32_t a = 0; a < factors->rank; a++)
        for (uint32_t b = 0; b <= a; b++) {
            double sum = 0;
            for (size_t row = 0; row < factors->rows; row++)
                sum += (double)factors->left[row * factors->rank + a] *
                       factors->left[row * factors->rank + b];
            assert_true(fabs(sum - (a == b)) < 1e-5);
        }
}

static void factors_of_sufficient_rank_are_exact(void **state)
{
    (void)state;
    float matrix[ROWS * COLUMNS], said[ROWS * COLUMNS];
    for (uint32_t rank = 1; rank <= ROWS; rank++) {
        struct low_rank factors;
        low_rank_init(&factors, ROWS, COLUMNS, rank, rank);
        draw(matrix, rank, 5);
        memcpy(said, matrix, sizeof said);
        low_rank_approximate(&factors, said);
        assert_orthonormal(&factors);
        assert_true(apart(matrix, said) < 1e-5);
        draw(matrix, rank + 2, 5);
        memcpy(said, matrix, sizeof said);
        low_rank_approximate(&factors, said);
        assert_true(rank == ROWS || apart(matrix, said) > 1e-4);
        low_rank_free(&factors);
    }
}

static void dependent_columns_are_replaced(void **state)
{
    (void)state;
    float matrix[ROWS * COLUMNS], said[ROWS * COLUMNS] = {0};
    struct low_rank factors;
    low_rank_init(&factors, ROWS, COLUMNS, 3, 1);
    low_rank_approximate(&factors, said);
    assert_orthonormal(&factors);
    assert_true(length(said) == 0);
    for (uint32_t rank = 1; rank <= 3; rank++) { /* the old right factor is 0, then of lower rank */
        draw(matrix, rank, 7);
        memcpy(said, matrix, sizeof said);
        low_rank_approximate(&factors, said);
        assert_orthonormal(&factors);
        memcpy(said, matrix, sizeof said);
        low_rank_approximate(&factors, said);
        assert_orthonormal(&factors);
    }
    for (int c = 0; c < ROWS * COLUMNS; c++)
        said[c] = NAN;
    low_rank_approximate(&factors, said); /* terminates */
    low_rank_free(&factors);
}

/* The right factor is reused, so each call is a step of a power iteration. For a constant matrix
 * the approximation converges. */
static void each_iteration_starts_with_the_last_right_factor(void **state)
{
    (void)state;
    float matrix[ROWS * COLUMNS], said[ROWS * COLUMNS], last[ROWS * COLUMNS] = {0};
    struct low_rank factors;
    low_rank_init(&factors, ROWS, COLUMNS, 1, 1);
    draw(matrix, 3, 9);
    double first = 0;
    for (int turn = 1; turn <= 50; turn++) {
        memcpy(said, matrix, sizeof said);
        low_rank_approximate(&factors, said);
        first = turn == 1 ? apart(matrix, said) : first;
        assert_true(turn < 50 || apart(said, last) < 1e-5);
        memcpy(last, said, sizeof last);
    }
    assert_true(apart(matrix, said) < first);
    low_rank_free(&factors);
}

/* The error is added to the next message. So the mean of all messages converges to the matrix,
 * although each message has rank 1. */
static void error_feedback_sends_the_rest_later(void **state)
{
    (void)state;
    float matrix[ROWS * COLUMNS], kept[ROWS * COLUMNS] = {0}, sum[ROWS * COLUMNS] = {0};
    struct low_rank factors;
    low_rank_init(&factors, ROWS, COLUMNS, 1, 1);
    draw(matrix, 3, 9);
    double first = 0;
    for (int turn = 1; turn <= 100; turn++) {
        float said[ROWS * COLUMNS], mean[ROWS * COLUMNS];
        for (int c = 0; c < ROWS * COLUMNS; c++)
            said[c] = kept[c] += matrix[c];
        low_rank_approximate(&factors, said);
        for (int c = 0; c < ROWS * COLUMNS; c++) {
            kept[c] -= said[c];
            sum[c] += said[c];
            mean[c] = sum[c] / (float)turn;
        }
        first = turn == 1 ? apart(matrix, mean) : first;
        assert_true(turn < 100 || apart(matrix, mean) < first / 10);
    }
    low_rank_free(&factors);
}

/* The gradient of ten classes has rank 9, because its rows add up to 0. After one SGD step, the
 * mean of weights equals a step with the mean gradient. Rounding adds a tenth rank. Error feedback
 * and the reused Q let it grow with each step, so there are only three steps. */
static void full_rank_equals_sgd_with_the_mean_gradient(void **state)
{
    (void)state;
    const char *full = "strategy.rank=9", *low = "strategy.rank=1";
    struct played mean = play_text(strategy_free, "localsgd", NULL, 0);
    struct played whole = play_text(strategy_free, "powersgd", &full, 1);
    struct played part = play_text(strategy_free, "powersgd", &low, 1);
    assert_int_equal(mean.outcome.nodes[0].steps, 3);
    assert_int_equal(whole.outcome.nodes[0].steps, 3);
    assert_same_weights(&mean, &whole, 1e-4f);
    assert_true(fabs(mean.outcome.loss - part.outcome.loss) > 1e-3);
    play_end(&mean);
    play_end(&whole);
    play_end(&part);
}

/* At a small rate gradients barely depend on earlier steps, so only the sum of the steps matters.
 * Each node keeps the part that it could not send. */
static void the_error_of_rank_1_stays_small(void **state)
{
    (void)state;
    const char *sets[] = {"strategy.rank=1", "train.rate=0.0005", "scenario.seconds=1"};
    struct played mean = play_text(strategy_free, "localsgd", sets, 3);
    struct played part = play_text(strategy_free, "powersgd", sets, 3);
    const double first = weights_apart(&mean, &part);
    play_end(&mean);
    play_end(&part);
    sets[2] = "scenario.seconds=20";
    mean = play_text(strategy_free, "localsgd", sets, 3);
    part = play_text(strategy_free, "powersgd", sets, 3);
    assert_int_equal(part.outcome.nodes[0].steps, 100);
    assert_true(first > 0.5 && weights_apart(&mean, &part) < 0.1);
    play_end(&mean);
    play_end(&part);
}

/* A step takes 0.588 s, so 17 fit 10 s. It has 0.2 s of training, eight transfers of 40 ms, and
 * twice two thirds of a message over 1 Mbit/s. */
static void a_step_costs_two_all_reduces_of_the_factors(void **state)
{
    (void)state;
    const uint64_t message = 4 * (2 * (10 + 784) + 10);
    struct played played = play("powersgd", NULL);
    assert_int_equal(played.outcome.nodes[2].steps, 17);
    assert_int_equal(last_moment(&played)->samples, 17 * 3 * 32);
    assert_int_equal(last_moment(&played)->sent_bytes, 17 * 2 * 2 * message);
    play_end(&played);
    played = play("powersgd", "scenario.seconds=9.99");
    assert_int_equal(played.outcome.nodes[2].steps, 16);
    play_end(&played);
    played = play("powersgd", "strategy.rank=10"); /* factors would be larger than the matrix */
    assert_int_equal(last_moment(&played)->sent_bytes % ((uint64_t)2 * 2 * 4 * PARAMETERS), 0);
    assert_true(played.outcome.nodes[2].steps > 0);
    play_end(&played);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(factors_of_sufficient_rank_are_exact),
        cmocka_unit_test(dependent_columns_are_replaced),
        cmocka_unit_test(each_iteration_starts_with_the_last_right_factor),
        cmocka_unit_test(error_feedback_sends_the_rest_later),
        cmocka_unit_test(full_rank_equals_sgd_with_the_mean_gradient),
        cmocka_unit_test(the_error_of_rank_1_stays_small),
        cmocka_unit_test(a_step_costs_two_all_reduces_of_the_factors),
    };
    secret_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
