/* Gossip SGD: a pulling worker averages with the worker that it asks, a pushed one with all
 * received weights. */
#include "workers/workers_stage.h"

static const char *const pull[] = {"gossip_by=pull"}, *const push[] = {"gossip_by=push"};

static void a_pulling_worker_waits_and_averages(void **state)
{
    (void)state;
    struct workers *stage = stage_open(gossip_sgd_play, 2, 2, pull, 1);
    stage_step(stage, 1, (const float[]){2, 4});
    assert_true(stage->posts_count == 1 && stage->posts[0].message.bytes == 8);
    assert_true(!stage_may_step(stage, 1) && stage_may_step(stage, 0));
    *stage_weights(stage, 0) = 6;
    stage_deliver(stage, 0);
    assert_true(stage->posts_count == 1 && stage->posts[0].message.bytes == 4 * 2);
    stage_deliver(stage, 0);
    assert_true(stage_weights(stage, 1)[0] == 4 && stage_weights(stage, 1)[1] == 2);
    assert_true(stage_weights(stage, 0)[0] == 6 && stage_weights(stage, 0)[1] == 0);
    assert_true(stage_may_step(stage, 1));
    stage_step(stage, 1, (const float[]){0, 0});
    stage_deliver_all(stage);
    /* each answer is the first since the receiver's step */
    assert_true(stage_weights(stage, 1)[0] == 5);
    stage_close(stage);
}

static void pushed_weights_count_as_much_as_own_weights(void **state)
{
    (void)state;
    struct workers *stage = stage_open(gossip_sgd_play, 2, 1, push, 1);
    stage_step(stage, 0, (const float[]){9});
    assert_true(stage->posts_count == 1 && stage->posts[0].message.bytes == 4);
    assert_true(stage_may_step(stage, 0));
    stage_step(stage, 0, (const float[]){3});
    stage_deliver_all(stage); /* worker 1 averages 0, 9 and 12 */
    assert_float_equal(stage_weights(stage, 1)[0], 7, 1e-5);
    assert_true(stage_weights(stage, 0)[0] == 12);
    stage_step(stage, 1, NULL);
    stage_step(stage, 0, (const float[]){1});
    stage_deliver(stage, 1); /* the first weights that worker 1 receives after its step */
    assert_float_equal(stage_weights(stage, 1)[0], 10, 1e-5);
    assert_int_equal(stage->sent_bytes, 4 * 4);
    stage_close(stage);
}

static void partners_are_drawn_uniformly_without_oneself(void **state)
{
    (void)state;
    struct workers *stage = stage_open(gossip_sgd_play, 4, 1, push, 1);
    uint32_t to[4] = {0};
    for (int k = 0; k < 600; k++) {
        stage_step(stage, 1, NULL);
        to[stage->posts[0].to]++;
        stage_deliver(stage, 0);
    }
    assert_true(to[0] > 150 && to[1] == 0 && to[2] > 150 && to[3] > 150);
    stage_close(stage);
}

static void push_and_pull_converge(void **state)
{
    (void)state;
    for (int way = 0; way < 2; way++) {
        struct workers *stage = stage_open(gossip_sgd_play, 5, 1, way ? pull : push, 1);
        for (uint32_t k = 0; k < 300; k++) {
            const float change = k < 5 ? (float)k : 0;
            stage_step(stage, k % 5, &change);
            stage_deliver_all(stage);
        }
        for (uint32_t i = 0; i < 5; i++)
            assert_float_equal(stage_weights(stage, i)[0], stage_weights(stage, 0)[0], 1e-4);
        assert_true(stage_weights(stage, 0)[0] > 0.5f && stage_weights(stage, 0)[0] < 3.5f);
        stage_close(stage);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pulling_worker_waits_and_averages),
        cmocka_unit_test(pushed_weights_count_as_much_as_own_weights),
        cmocka_unit_test(partners_are_drawn_uniformly_without_oneself),
        cmocka_unit_test(push_and_pull_converge),
    };
    secret_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
