/* GossipGraD: in each step each worker sends to one worker and receives from one. Information
 * reaches all workers. */
#include "workers/workers_stage.h"

static const char *const of_progress[] = {"gossip_of=progress"};

static void receivers_are_a_permutation_in_each_step(void **state)
{
    (void)state;
    uint32_t met[6][6] = {{0}}, second[6];
    struct workers *stage = stage_open(gossipgrad_play, 6, 1, NULL, 0);
    for (uint64_t round = 0; round < 60; round++) {
        uint32_t senders[6] = {0}, to[6];
        for (uint32_t i = 0; i < 6; i++) {
            stage_step(stage, i, NULL);
            to[i] = stage->posts[stage->posts_count - 1].to;
            senders[to[i]]++;
            met[i][to[i]]++;
            assert_int_equal(stage->posts[stage->posts_count - 1].message.number, round);
        }
        stage_deliver_all(stage);
        for (uint32_t i = 0; i < 6; i++)
            assert_int_equal(senders[i], 1);
        for (uint32_t i = 0; round % 3 == 1 && i < 6; i++)
            /* the second round of each permutation sends to distance 2 */
            second[i] = to[i];
        if (round % 3 == 2)
            for (uint32_t i = 0; i < 6; i++)
                /* distance 4 in the third round is twice distance 2 */
                assert_int_equal(to[i], second[second[i]]);
    }
    for (uint32_t i = 0; i < 6; i++)
        for (uint32_t j = 0; j < 6; j++)
            assert_true(i == j ? met[i][j] == 0 : met[i][j] > 0);
    assert_int_equal(stage->sent_bytes, 60 * 6 * 4);
    stage_close(stage);
}

static void a_message_reaches_all_within_one_cycle(void **state)
{
    (void)state;
    struct workers *stage = stage_open(gossipgrad_play, 8, 1, NULL, 0);
    for (int round = 0; round < 3; round++) {
        for (uint32_t i = 0; i < 8; i++)
            stage_step(stage, i, (const float[]){round == 0 && i == 5 ? 8 : 0});
        stage_deliver_all(stage);
    }
    for (uint32_t i = 0; i < 8; i++)
        /* all workers received an equal part of the 8 */
        assert_true(stage_weights(stage, i)[0] == 1);
    stage_close(stage);
}

static void a_worker_waits_for_the_message_of_its_step(void **state)
{
    (void)state;
    struct workers *stage = stage_open(gossipgrad_play, 2, 2, NULL, 0);
    stage_step(stage, 0, (const float[]){6, 2});
    assert_int_equal(stage->posts[0].message.bytes, 4 * 2);
    assert_false(stage_may_step(stage, 0));
    stage_deliver(stage, 0); /* an early message waits */
    assert_true(stage_weights(stage, 1)[0] == 0 && stage_may_step(stage, 1));
    stage_step(stage, 1, (const float[]){4, 0});
    assert_true(stage_weights(stage, 1)[0] == 5 && stage_may_step(stage, 1));
    stage_step(stage, 1, NULL);
    assert_false(stage_may_step(stage, 1));
    stage_deliver_all(stage);
    assert_true(stage_weights(stage, 0)[0] == 5 && stage_weights(stage, 0)[1] == 1);
    assert_true(stage_may_step(stage, 0));
    stage_close(stage);
}

/* Each worker continues with the mean of the two steps. The difference of their weights remains. */
static void exchanged_progress_is_averaged_and_weights_stay_different(void **state)
{
    (void)state;
    struct workers *stage = stage_open(gossipgrad_play, 2, 1, of_progress, 1);
    *stage_weights(stage, 0) = 100;
    stage_step(stage, 0, (const float[]){6});
    stage_step(stage, 1, (const float[]){4});
    stage_deliver_all(stage);
    assert_true(stage_weights(stage, 0)[0] == 105 && stage_weights(stage, 1)[0] == 5);
    stage_close(stage);
}

static void no_exchange_changes_the_mean_of_all(void **state)
{
    (void)state;
    struct workers *stage = stage_open(gossipgrad_play, 5, 1, NULL, 0);
    struct rng rng = rng_new(4, 0);
    double produced = 0;
    for (int k = 0; k < 2000; k++) {
        const uint32_t i = rng_below(&rng, 5);
        const float change = (float)rng_below(&rng, 3);
        if (stage->posts_count > 0 && rng_below(&rng, 2))
            stage_deliver(stage, rng_below(&rng, stage->posts_count));
        if (!stage_may_step(stage, i))
            continue;
        stage_step(stage, i, &change);
        produced += (double)change;
    }
    for (uint32_t k = 0; k < 500; k++)
        for (uint32_t i = 0; i < 5; i++)
            if (stage_may_step(stage, i) && stage->steps[i] < 1000)
                stage_step(stage, i, NULL);
            else if (stage->posts_count > 0)
                stage_deliver(stage, 0);
    stage_deliver_all(stage);
    assert_true(produced > 100);
    for (uint32_t i = 0; i < 5; i++)
        assert_float_equal((double)stage_weights(stage, i)[0], produced / 5, 0.01);
    stage_close(stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(receivers_are_a_permutation_in_each_step),
        cmocka_unit_test(a_message_reaches_all_within_one_cycle),
        cmocka_unit_test(a_worker_waits_for_the_message_of_its_step),
        cmocka_unit_test(exchanged_progress_is_averaged_and_weights_stay_different),
        cmocka_unit_test(no_exchange_changes_the_mean_of_all),
    };
    secret_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
