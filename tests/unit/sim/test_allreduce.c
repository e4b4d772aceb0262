/* All-reduce: SGD with the mean gradient, in single or half precision. */
#include <math.h>

#include "crypto/secret.h"
#include "support/sim/strategy_play.h"

static const char half[] = "strategy.gradient_precision=float16";

static void allreduce_is_sgd_with_the_mean_gradient(void **state)
{
    (void)state;
    struct played mean = play_text(strategy_free, "localsgd", NULL, 0);
    struct played whole = play_text(strategy_free, "allreduce", NULL, 0);
    assert_int_equal(whole.outcome.nodes[0].steps, 3);
    assert_same_weights(&mean, &whole, 1e-6f);
    play_end(&mean);
    play_end(&whole);
}

/* Factors of rank 10 are larger than the matrix, which is therefore sent uncompressed. */
static void equals_powersgd_with_uncompressed_gradients(void **state)
{
    (void)state;
    const char *sets[] = {"strategy.rank=10", "train.momentum=0.9", "scenario.seconds=4"};
    struct played powersgd = play_text(strategy_free, "powersgd", sets, 3);
    struct played allreduce = play_text(strategy_free, "allreduce", sets, 3);
    assert_int_equal(allreduce.outcome.nodes[2].steps, 20);
    assert_same_weights(&powersgd, &allreduce, 0);
    play_end(&powersgd);
    play_end(&allreduce);
}

/* A step takes 0.695 s, so 14 fit 10 s. It has 0.2 s of training, 4 transfers of 40 ms, and two
 * thirds of a message twice over 1 Mbit/s. With half of the bytes it takes 0.527 s, so 18 fit. */
static void a_step_costs_an_all_reduce_of_the_gradients(void **state)
{
    (void)state;
    struct played whole = play("allreduce", NULL), rounded = play("allreduce", half);
    assert_int_equal(whole.outcome.nodes[2].steps, 14);
    assert_int_equal(last_moment(&whole)->samples, 14 * 3 * 32);
    assert_int_equal(last_moment(&whole)->sent_bytes, 14 * 2 * 2 * 4 * PARAMETERS);
    assert_int_equal(rounded.outcome.nodes[2].steps, 18);
    assert_int_equal(last_moment(&rounded)->sent_bytes, 18 * 2 * 2 * 2 * PARAMETERS);
    play_end(&whole);
    play_end(&rounded);
}

/* One step of one node moves the weights by the rate times the gradient. Rounding the gradient to
 * float16 changes each normal entry by a fraction of at most 2^-11. */
static void float16_rounds_each_gradient(void **state)
{
    (void)state;
    const char *sets[] = {"scenario.seconds=0.2", "alike.count=1", half};
    struct played whole = play_text(strategy_free, "allreduce", sets, 2);
    struct played rounded = play_text(strategy_free, "allreduce", sets, 3);
    const double apart = weights_apart(&whole, &rounded);
    assert_int_equal(rounded.outcome.nodes[0].steps, 1);
    assert_true(apart > 1e-5 && apart < 0x1p-11);
    play_end(&whole);
    play_end(&rounded);
}

/* With three nodes, three values are rounded: each gradient, a third of each gradient, and each
 * sum. Without the first rounding the distance would be 3.4e-4, without the second 3.3e-4, without
 * the third 2.5e-4. */
static void float16_rounds_gradients_parts_and_sums(void **state)
{
    (void)state;
    const char *sets[] = {"scenario.seconds=0.2", half};
    struct played whole = play_text(strategy_free, "allreduce", sets, 1);
    struct played rounded = play_text(strategy_free, "allreduce", sets, 2);
    const double apart = weights_apart(&whole, &rounded);
    assert_true(apart > 3.6e-4 && apart < 4.1e-4);
    play_end(&whole);
    play_end(&rounded);
}

static void learns_in_either_precision(void **state)
{
    (void)state;
    const char *sets[] = {"scenario.seconds=20", "train.rate=0.05", half};
    struct played whole = play_text(strategy_free, "allreduce", sets, 2);
    struct played rounded = play_text(strategy_free, "allreduce", sets, 3);
    assert_true(whole.outcome.loss < 0.6 * loss_at_start(&whole));
    assert_true(fabs(whole.outcome.loss - rounded.outcome.loss) < 0.01);
    play_end(&whole);
    play_end(&rounded);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allreduce_is_sgd_with_the_mean_gradient),
        cmocka_unit_test(equals_powersgd_with_uncompressed_gradients),
        cmocka_unit_test(a_step_costs_an_all_reduce_of_the_gradients),
        cmocka_unit_test(float16_rounds_each_gradient),
        cmocka_unit_test(float16_rounds_gradients_parts_and_sums),
        cmocka_unit_test(learns_in_either_precision),
    };
    secret_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
