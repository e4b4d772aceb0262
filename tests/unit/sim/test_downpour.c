/* Downpour SGD: workers push to and fetch from an asynchronous server, or average synchronously. */
#include "workers/workers_stage.h"

static float common(struct workers *stage, size_t c)
{
    float weights[4];
    stage->method->weights(stage->self, weights);
    return weights[c];
}

static void pushed_progress_reaches_the_server_and_returns(void **state)
{
    (void)state;
    static const char *const sets[] = {"push_steps=2", "fetch_steps=3", "gain=3"};
    struct workers *stage = stage_new(3, 2, sets, 3);
    stage->up[0] = 10;
    stage->up[1] = 30; /* worker 1 has the server */
    stage->up[2] = 20;
    stage_begin(stage, downpour_play, (const float[]){1, 1});
    stage_step(stage, 0, (const float[]){2, 0});
    assert_int_equal(stage->posts_count, 0);
    stage_step(stage, 0, (const float[]){4, 1});
    assert_true(stage->posts_count == 1 && stage->posts[0].to == 1);
    assert_int_equal(stage->posts[0].message.bytes, 4 * 2);
    assert_true(common(stage, 0) == 1);
    stage_deliver(stage, 0);
    assert_true(common(stage, 0) == 7 && common(stage, 1) == 2);
    stage_step(stage, 0, (const float[]){16, 0});
    assert_true(stage->posts_count == 1 && stage->posts[0].message.bytes == 8);
    stage_deliver(stage, 0); /* the fetch does not contain unpushed progress */
    assert_true(stage->posts[0].to == 0 && stage->posts[0].message.bytes == 4 * 2);
    stage_deliver(stage, 0);
    assert_true(stage_weights(stage, 0)[0] == 7 && stage_weights(stage, 0)[1] == 2);
    stage_step(stage, 0, (const float[]){32, 0});
    stage_deliver(stage, 0); /* both steps are pushed now, exactly once */
    assert_true(common(stage, 0) == 7 + 16 + 32);
    assert_int_equal(stage->sent_bytes, 3 * 4 * 2 + 8);
    stage_close(stage);
}

static void workers_do_not_wait_and_have_one_fetch_at_a_time(void **state)
{
    (void)state;
    struct workers *stage = stage_open(downpour_play, 2, 1, NULL, 0);
    stage_step(stage, 1, (const float[]){2});
    assert_int_equal(stage->posts_count, 2); /* a push and a request */
    stage_step(stage, 1, (const float[]){4});
    assert_int_equal(stage->posts_count, 3); /* only a push, because the request is still open */
    stage_deliver_all(stage);
    /* by default the server applies the mean of all workers */
    assert_true(common(stage, 0) == 3);
    assert_true(stage_weights(stage, 1)[0] == 1); /* requested between the two pushes */
    stage_step(stage, 1, NULL);
    stage_deliver_all(stage);
    assert_true(stage_weights(stage, 1)[0] == 3);
    stage_close(stage);
}

static void one_worker_equals_sgd(void **state)
{
    (void)state;
    struct workers *stage = stage_open(downpour_play, 1, 1, NULL, 0);
    float sum = 0;
    for (int k = 1; k < 20; k++) {
        const float change = (float)k;
        sum += change;
        stage_step(stage, 0, &change);
        stage_deliver_all(stage);
        assert_true(stage_weights(stage, 0)[0] == sum && common(stage, 0) == sum);
    }
    assert_int_equal(stage->sent_bytes, 0);
    stage_close(stage);
}

static void all_workers_wait_for_the_average(void **state)
{
    (void)state;
    static const char *const sets[] = {"average=yes", "push_steps=2"};
    struct workers *stage = stage_open(downpour_play, 2, 1, sets, 2);
    stage_step(stage, 0, (const float[]){2});
    assert_int_equal(stage->posts_count, 0);
    stage_step(stage, 0, (const float[]){4});
    stage_step(stage, 1, (const float[]){1});
    stage_deliver_all(stage);
    assert_true(!stage_may_step(stage, 0) && stage_may_step(stage, 1));
    stage_step(stage, 1, (const float[]){1});
    stage_deliver_all(stage);
    assert_true(stage_may_step(stage, 0) && stage_may_step(stage, 1));
    assert_true(stage_weights(stage, 0)[0] == 4 && stage_weights(stage, 1)[0] == 4);
    assert_true(common(stage, 0) == 4);
    for (int k = 0; k < 4; k++)
        stage_step(stage, (uint32_t)k % 2, (const float[]){1});
    stage_deliver_all(stage);
    assert_true(stage_weights(stage, 0)[0] == 6 && stage_weights(stage, 1)[0] == 6);
    assert_int_equal(stage->sent_bytes, 2 * 2 * 4);
    stage_close(stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pushed_progress_reaches_the_server_and_returns),
        cmocka_unit_test(workers_do_not_wait_and_have_one_fetch_at_a_time),
        cmocka_unit_test(one_worker_equals_sgd),
        cmocka_unit_test(all_workers_wait_for_the_average),
    };
    secret_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
