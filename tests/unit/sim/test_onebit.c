/* 1-bit SGD: messages of one bit an entry, their error, and the steps. */
#include <math.h>

#include "base/rng.h"
#include "crypto/secret.h"
#include "strategies/one_bit.h"
#include "support/sim/strategy_play.h"

#define ENTRIES 1000

static void one_bit_stands_for_the_means_of_both_signs(void **state)
{
    (void)state;
    float values[] = {3, -1, 0, -2, 6}, error[5] = {0};
    one_bit_compress(values, error, 5);
    assert_memory_equal(values, ((float[]){3, -1.5f, 3, -1.5f, 3}), sizeof values);
    assert_memory_equal(error, ((float[]){0, 0.5f, -3, -0.5f, 3}), sizeof error);
    memcpy(values, (float[]){-1, -1, -1, 1, 1}, sizeof values);
    one_bit_compress(values, error, 5); /* compresses -1, -0.5, -4, 0.5, 4 */
    const float below = -5.5f / 3;
    assert_memory_equal(values, ((float[]){below, below, below, 2.25f, 2.25f}), sizeof values);
    assert_true(error[0] == -1 - below && error[3] == 0.5f - 2.25f);
    float alike[] = {-2, -4, -6};
    memset(error, 0, sizeof error);
    one_bit_compress(alike, error, 3);
    assert_memory_equal(alike, ((float[]){-4, -4, -4}), sizeof alike);
}

static void sent_plus_error_equals_produced(void **state)
{
    (void)state;
    float values[ENTRIES], error[ENTRIES] = {0};
    double produced[ENTRIES] = {0}, said[ENTRIES] = {0};
    struct rng rng = rng_new(3, 0);
    for (int turn = 0; turn < 50; turn++) {
        for (int c = 0; c < ENTRIES; c++)
            produced[c] += (double)(values[c] = (float)(rng_uniform(&rng) - 0.3));
        one_bit_compress(values, error, ENTRIES);
        for (int c = 0; c < ENTRIES; c++) {
            said[c] += (double)values[c];
            assert_true(fabs(said[c] + (double)error[c] - produced[c]) < 1e-4);
        }
    }
}

/* At a small rate gradients barely depend on earlier steps, so only the sum of the steps matters.
 * The missing part is in a node's error or in the error of the mean. */
static void the_error_stays_small_after_many_steps(void **state)
{
    (void)state;
    const char *sets[] = {"train.rate=0.0005", "scenario.seconds=1"};
    struct played mean = play_text(strategy_free, "allreduce", sets, 2);
    struct played part = play_text(strategy_free, "onebit", sets, 2);
    const double first = weights_apart(&mean, &part);
    play_end(&mean);
    play_end(&part);
    sets[1] = "scenario.seconds=20";
    mean = play_text(strategy_free, "allreduce", sets, 2);
    part = play_text(strategy_free, "onebit", sets, 2);
    assert_int_equal(part.outcome.nodes[0].steps, 100);
    assert_true(first > 0.4 && weights_apart(&mean, &part) < 0.1);
    play_end(&mean);
    play_end(&part);
}

/* Compresses ten rows of 784 weights, then the ten biases. */
static void say(float *values, float *error)
{
    for (int row = 0; row < 10; row++)
        one_bit_compress(values + 784 * row, error + 784 * row, 784);
    one_bit_compress(values + 7840, error + 7840, 10);
}

static void nodes_and_the_mean_have_separate_errors(void **state)
{
    (void)state;
    static float errors[3][PARAMETERS], error[PARAMETERS], own[PARAMETERS], mean[PARAMETERS];
    struct played played = play_text(strategy_free, "onebit", NULL, 0);
    struct by_hand hand;
    by_hand_begin(&hand, &played);
    for (int step = 0; step < 3; step++) {
        memset(mean, 0, sizeof mean);
        for (int i = 0; i < 3; i++) {
            learner_gradient(hand.learners[i], own);
            say(own, errors[i]);
            for (int c = 0; c < PARAMETERS; c++)
                mean[c] += own[c] / 3;
        }
        say(mean, error);
        for (int i = 0; i < 3; i++)
            (void)learner_descend(hand.learners[i], mean);
    }
    assert_as_by_hand(&hand, &played, 1e-6f);
    by_hand_end(&hand);
    play_end(&played);
}

/* A step takes 0.2914 s, so 34 fit 10 s. It has 0.2 s of training, two delays of 40 ms, and two
 * thirds of a message twice over 1 Mbit/s. Ten rows of 784 and a vector of 10 have two values each.
 */
static void a_step_costs_a_bit_an_entry_and_two_values_a_row(void **state)
{
    (void)state;
    const uint64_t message = (7840 + 10 + 11 * 64 + 7) / 8;
    struct played played = play("onebit", NULL);
    assert_int_equal(message, 1070);
    assert_int_equal(played.outcome.nodes[2].steps, 34);
    assert_int_equal(last_moment(&played)->samples, 34 * 3 * 32);
    assert_int_equal(last_moment(&played)->sent_bytes, 34 * 2 * 2 * message);
    play_end(&played);
    played = play("onebit", "scenario.seconds=9.9");
    assert_int_equal(played.outcome.nodes[2].steps, 33);
    play_end(&played);
}

/* A batch norm of ten planes has ten scales, ten biases, and 20 statistics in float32. */
static void statistics_are_sent_uncompressed(void **state)
{
    (void)state;
    const char *sets[] = {"model.layers=dense 10, batchnorm, dense 10", "scenario.seconds=0.2"};
    const uint64_t bits = 7840 + 10 + 100 + 10 + 20 + (10 + 1 + 10 + 1 + 2) * 64;
    struct played played = play_text(strategy_free, "onebit", sets, 2);
    assert_int_equal(last_moment(&played)->sent_bytes, 2 * 2 * ((bits + 7) / 8 + 20 * 4));
    play_end(&played);
}

static void onebit_learns(void **state)
{
    (void)state;
    const char *sets[] = {"scenario.seconds=20", "train.rate=0.02"};
    struct played played = play_text(strategy_free, "onebit", sets, 2);
    assert_true(played.outcome.loss < 0.6 * loss_at_start(&played));
    play_end(&played);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_bit_stands_for_the_means_of_both_signs),
        cmocka_unit_test(sent_plus_error_equals_produced),
        cmocka_unit_test(the_error_stays_small_after_many_steps),
        cmocka_unit_test(nodes_and_the_mean_have_separate_errors),
        cmocka_unit_test(a_step_costs_a_bit_an_entry_and_two_values_a_row),
        cmocka_unit_test(statistics_are_sent_uncompressed),
        cmocka_unit_test(onebit_learns),
    };
    secret_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
