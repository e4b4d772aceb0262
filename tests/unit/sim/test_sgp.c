/* Stochastic gradient push: halves travel along the exponential graph, and no half is lost. */
#include "workers/workers_stage.h"

static const char *const waiting[] = {"overlap_steps=0"};

static void two_workers_end_a_round_with_their_mean(void **state)
{
    (void)state;
    struct workers *stage = stage_open(sgp_play, 2, 2, waiting, 1);
    stage_step(stage, 0, (const float[]){4, 2});
    assert_true(!stage_may_step(stage, 0) && stage_may_step(stage, 1));
    assert_int_equal(stage->posts[0].message.bytes, 4 * 2 + 4);
    assert_true(stage->posts[0].message.weight == 0.5);
    assert_true(stage->posts[0].message.content->values[0] == 2);
    /* x and w are halved, so z = x / w is unchanged */
    assert_true(stage_weights(stage, 0)[0] == 4);
    stage_step(stage, 1, (const float[]){8, 4});
    stage_deliver_all(stage);
    for (uint32_t i = 0; i < 2; i++)
        assert_true(stage_weights(stage, i)[0] == 6 && stage_weights(stage, i)[1] == 3);
    assert_true(stage_may_step(stage, 0) && stage_may_step(stage, 1));
    stage_close(stage);
}

/* An early half counts half as much as the receiver's own weights, which are not halved yet. */
static void an_early_half_is_mixed_in_by_its_weight(void **state)
{
    (void)state;
    struct workers *stage = stage_open(sgp_play, 2, 1, waiting, 1);
    stage_step(stage, 0, (const float[]){9});
    stage_deliver(stage, 0); /* worker 1 has x = 4.5, w = 1.5 */
    assert_true(stage_weights(stage, 1)[0] == 3);
    stage_step(stage, 1, (const float[]){1.5f}); /* x = 6, half of which is sent with w = 0.75 */
    assert_true(stage->posts[0].message.weight == 0.75 && stage_weights(stage, 1)[0] == 4);
    stage_deliver(stage, 0); /* worker 0 has x = 4.5 + 3, w = 0.5 + 0.75 */
    assert_true(stage_weights(stage, 0)[0] == 6);
    stage_close(stage);
}

static void peers_are_at_distances_of_powers_of_two_in_turn(void **state)
{
    (void)state;
    struct workers *stage = stage_open(sgp_play, 5, 1, waiting, 1);
    const uint32_t distances[] = {1, 2, 4, 1, 2, 4, 1};
    for (uint64_t round = 0; round < 7; round++) {
        for (uint32_t i = 0; i < 5; i++) {
            stage_step(stage, i, NULL);
            const struct stage_post *post = &stage->posts[stage->posts_count - 1];
            assert_int_equal(post->to, (i + distances[round]) % 5);
            assert_int_equal(post->message.number, round);
        }
        stage_deliver_all(stage);
    }
    assert_int_equal(stage->sent_bytes, 7 * 5 * (4 + 4));
    stage_close(stage);
}

static void a_worker_is_at_most_overlap_steps_ahead_of_its_input(void **state)
{
    (void)state;
    static const char *const ahead[] = {"overlap_steps=2"};
    struct workers *stage = stage_open(sgp_play, 3, 1, ahead, 1);
    stage_step(stage, 0, NULL);
    stage_step(stage, 0, NULL);
    stage_step(stage, 0, NULL);
    assert_false(stage_may_step(stage, 0));
    stage_step(stage, 1, NULL);
    stage_step(stage, 1, NULL);
    /* Worker 1's message of round 1 goes to worker 0. Worker 0 still lacks a message of round 0,
     * which worker 2 sends. */
    stage_deliver_all(stage);
    assert_false(stage_may_step(stage, 0));
    stage_step(stage, 2, NULL);
    stage_deliver_all(stage);
    stage_step(stage, 0, NULL);
    stage_step(stage, 0, NULL);
    assert_false(stage_may_step(stage, 0));
    stage_close(stage);
}

static void nothing_is_lost_and_all_converge_to_the_mean(void **state)
{
    (void)state;
    static const char *const ahead[] = {"overlap_steps=1"};
    struct workers *stage = stage_new(6, 1, ahead, 1);
    struct rng rng = rng_new(5, 0);
    double produced = 6 * 50;
    stage_begin(stage, sgp_play, (const float[]){50});
    for (int k = 0; k < 3000; k++) {
        const uint32_t i = rng_below(&rng, 6);
        const float change = k < 600 ? (float)rng_below(&rng, 5) : 0;
        if (stage->posts_count > 0 && rng_below(&rng, 2))
            stage_deliver(stage, 0);
        if (!stage_may_step(stage, i))
            continue;
        stage_step(stage, i, &change);
        produced += (double)change;
    }
    stage_deliver_all(stage);
    assert_true(produced > 6 * 50 + 100);
    for (uint32_t i = 0; i < 6; i++)
        assert_float_equal((double)stage_weights(stage, i)[0], produced / 6, 0.01);
    stage_close(stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_workers_end_a_round_with_their_mean),
        cmocka_unit_test(an_early_half_is_mixed_in_by_its_weight),
        cmocka_unit_test(peers_are_at_distances_of_powers_of_two_in_turn),
        cmocka_unit_test(a_worker_is_at_most_overlap_steps_ahead_of_its_input),
        cmocka_unit_test(nothing_is_lost_and_all_converge_to_the_mean),
    };
    secret_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
