/* AD-PSGD: an exchange averages two workers, and no worker waits. */
#include "workers/workers_stage.h"

static void an_exchange_averages_both_workers(void **state)
{
    (void)state;
    struct workers *stage = stage_open(adpsgd_play, 2, 2, NULL, 0);
    stage_step(stage, 1, (const float[]){6, -2});
    assert_int_equal(stage->posts_count, 0); /* the passive worker requests nothing */
    stage_step(stage, 0, (const float[]){2, 4});
    assert_int_equal(stage->posts_count, 1);
    stage_deliver(stage, 0);
    assert_true(stage_weights(stage, 1)[0] == 4 && stage_weights(stage, 1)[1] == 1);
    assert_true(stage_weights(stage, 0)[0] == 2 && stage_weights(stage, 0)[1] == 4);
    stage_deliver(stage, 0);
    assert_true(stage_weights(stage, 0)[0] == 4 && stage_weights(stage, 0)[1] == 1);
    assert_int_equal(stage->posts_count, 0);
    assert_int_equal(stage->sent_bytes, 2 * 2 * 4);
    stage_close(stage);
}

/* Both workers keep the progress that they make during the exchange. */
static void steps_go_on_during_an_exchange_and_none_is_lost(void **state)
{
    (void)state;
    struct workers *stage = stage_open(adpsgd_play, 2, 1, NULL, 0);
    stage_step(stage, 0, (const float[]){8});
    stage_step(stage, 1, (const float[]){2});
    stage_step(stage, 0, (const float[]){1});
    assert_int_equal(stage->posts_count, 1); /* one exchange at a time */
    stage_deliver(stage, 0);
    assert_true(stage_weights(stage, 1)[0] == 5);
    stage_step(stage, 1, (const float[]){16});
    stage_deliver(stage, 0);
    assert_true(stage_weights(stage, 0)[0] == 8 + 1 - 3);
    assert_true(stage_weights(stage, 1)[0] == 5 + 16);
    stage_step(stage, 0, NULL);
    assert_int_equal(stage->posts_count, 1); /* the next exchange */
    stage_close(stage);
}

/* Messages arrive in any order. Changes are small integers, and each exchange halves a difference.
 * So sums are exact until a value needs more bits than a float has, and nearly exact afterwards. */
static void no_exchange_changes_the_mean_of_all(void **state)
{
    (void)state;
    struct workers *stage = stage_open(adpsgd_play, 5, 1, NULL, 0);
    struct rng rng = rng_new(7, 0);
    double produced = 0;
    bool asked[5] = {false};
    for (int k = 0; k < 400; k++) {
        const float change = (float)rng_below(&rng, 9) - 4;
        stage_step(stage, rng_below(&rng, 5), &change);
        produced += (double)change;
        while (stage->posts_count > 0 && rng_below(&rng, 2)) {
            const uint32_t post = rng_below(&rng, stage->posts_count);
            asked[stage->posts[post].to] |= stage->posts[post].from % 2 == 0;
            stage_deliver(stage, post);
        }
    }
    assert_true(asked[1] && asked[3] && !asked[0] && !asked[2] && !asked[4]);
    stage_deliver_all(stage);
    assert_float_equal(stage_sum(stage, 0), produced, 1e-3);
    for (int k = 0; k < 200; k++) {
        stage_step(stage, k % 2 ? 0 : 2, NULL);
        stage_step(stage, 4, NULL);
        stage_deliver_all(stage);
    }
    for (uint32_t i = 0; i < 5; i++)
        assert_float_equal((double)stage_weights(stage, i)[0], produced / 5, 1e-3);
    stage_close(stage);
}

static void a_single_worker_steps_and_sends_nothing(void **state)
{
    (void)state;
    struct workers *stage = stage_open(adpsgd_play, 1, 1, NULL, 0);
    stage_step(stage, 0, (const float[]){3});
    assert_true(stage->posts_count == 0 && stage_weights(stage, 0)[0] == 3);
    stage_close(stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_exchange_averages_both_workers),
        cmocka_unit_test(steps_go_on_during_an_exchange_and_none_is_lost),
        cmocka_unit_test(no_exchange_changes_the_mean_of_all),
        cmocka_unit_test(a_single_worker_steps_and_sends_nothing),
    };
    secret_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
