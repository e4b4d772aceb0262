/* MLNET aggregates the progress of all workers in a tree, part by part, and returns it to all. */
#include "workers/workers_stage.h"

static float common(struct workers *stage, size_t c)
{
    float weights[8];
    stage->method->weights(stage->self, weights);
    return weights[c];
}

/* The gain of 10 over five workers is 2. Workers in the order of their uplinks: 3, 1, 0, 2, 4. So 3
 * is the root, with children 1 and 0, and 1 is the parent of 2 and 4. */
static struct workers *open_tree(const char *fragments)
{
    const char *const sets[] = {fragments, "fanout=2", "gain=10"};
    const double up[] = {20, 30, 10, 40, 10};
    struct workers *stage = stage_new(5, 4, sets, 3);
    memcpy(stage->up, up, sizeof up);
    stage_begin(stage, mlnet_play, (const float[]){1, 1, 1, 1});
    return stage;
}

static void the_sum_at_the_root_is_the_sum_of_all(void **state)
{
    (void)state;
    struct workers *stage = open_tree("fragments=1");
    const float all[] = {1 + 2 * 31, 1 + 31, 1, 1 - 2};
    for (uint32_t i = 0; i < 5; i++)
        stage_step(stage, i, (const float[]){(float)(1 << i), (float)(1 << i) / 2, 0, -0.2f});
    assert_int_equal(stage->posts_count, 3); /* messages of the leaves */
    stage_deliver_all(stage);
    for (uint32_t i = 0; i < 5; i++)
        for (size_t c = 0; c < 4; c++)
            assert_float_equal(stage_weights(stage, i)[c], all[c], 1e-6);
    assert_float_equal(common(stage, 0), 63, 1e-6);
    assert_int_equal(stage->sent_bytes, 2 * 4 * 4 * 4); /* up and down four edges */
    stage_close(stage);
}

static void messages_go_up_the_tree_and_down_again(void **state)
{
    (void)state;
    struct workers *stage = open_tree("fragments=1");
    stage_step(stage, 4, NULL);
    assert_true(stage->posts[0].from == 4 && stage->posts[0].to == 1);
    stage_deliver(stage, 0);
    stage_step(stage, 1, NULL);
    assert_int_equal(stage->posts_count, 0); /* worker 1 waits for its child, worker 2 */
    stage_step(stage, 2, NULL);
    assert_true(stage->posts[0].from == 2 && stage->posts[0].to == 1);
    stage_deliver(stage, 0);
    assert_true(stage->posts[0].from == 1 && stage->posts[0].to == 3);
    stage_deliver(stage, 0);
    stage_step(stage, 3, NULL);
    stage_step(stage, 0, NULL);
    assert_true(stage->posts_count == 1 && stage->posts[0].to == 3);
    assert_false(stage_may_step(stage, 3));
    stage_deliver(stage, 0);
    assert_true(stage_may_step(stage, 3) && !stage_may_step(stage, 1));
    assert_true(stage->posts_count == 2 && stage->posts[0].to == 1 && stage->posts[1].to == 0);
    stage_deliver(stage, 0);
    assert_true(stage_may_step(stage, 1) && !stage_may_step(stage, 2));
    stage_deliver_all(stage);
    assert_true(stage_may_step(stage, 2) && stage_may_step(stage, 4));
    stage_close(stage);
}

/* Makes two rounds. Workers step and parts arrive in a random order. */
static void each_part_is_aggregated_once_and_forwarded_at_once(void **state)
{
    (void)state;
    struct workers *stage = open_tree("fragments=3");
    struct rng rng = rng_new(6, 0);
    stage_step(stage, 2, (const float[]){1, 2, 3, 4});
    assert_int_equal(stage->posts_count, 3);
    assert_int_equal(stage->posts[0].message.bytes + stage->posts[1].message.bytes +
                         stage->posts[2].message.bytes,
                     4 * 4);
    assert_true(stage->posts[0].message.priority > stage->posts[2].message.priority);
    for (int k = 0; k < 400; k++) {
        const uint32_t i = rng_below(&rng, 5);
        if (stage->steps[i] < 2 && stage_may_step(stage, i))
            stage_step(stage, i, (const float[]){1, 2, 3, 4});
        if (stage->posts_count > 0)
            stage_deliver(stage, rng_below(&rng, stage->posts_count));
    }
    assert_int_equal(stage->posts_count, 0);
    for (uint32_t i = 0; i < 5; i++)
        for (size_t c = 0; c < 4; c++)
            assert_float_equal(stage_weights(stage, i)[c], 1 + 20 * (float)(c + 1), 1e-5);
    assert_float_equal(common(stage, 3), 81, 1e-5);
    assert_int_equal(stage->sent_bytes, 2 * 2 * 4 * 4 * 4);
    stage_step(stage, 4, NULL); /* the third round, with a lower priority than earlier rounds */
    assert_true(stage->posts[0].message.priority == UINT32_MAX - 2 * 3);
    stage_close(stage);
}

static void a_single_worker_is_its_own_root(void **state)
{
    (void)state;
    struct workers *stage = stage_open(mlnet_play, 1, 4, NULL, 0);
    stage_step(stage, 0, (const float[]){1, 2, 3, 4});
    stage_step(stage, 0, (const float[]){1, 2, 3, 4});
    assert_true(stage->posts_count == 0 && common(stage, 3) == 8 && common(stage, 0) == 2);
    stage_close(stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sum_at_the_root_is_the_sum_of_all),
        cmocka_unit_test(messages_go_up_the_tree_and_down_again),
        cmocka_unit_test(each_part_is_aggregated_once_and_forwarded_at_once),
        cmocka_unit_test(a_single_worker_is_its_own_root),
    };
    secret_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
