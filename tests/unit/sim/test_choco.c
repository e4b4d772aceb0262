/* CHOCO-SGD: messages of few entries make replicas follow the weights. A worker's replica is equal
 * at all neighbours. Weights move towards the replicas. */
#include <math.h>

#include "workers/workers_stage.h"

/* Half of the four entries are sent. Worker 0 moves a quarter of the way (0.5 · 1/2) to the replica
 * of worker 1. */
static void weights_move_towards_the_replicas(void **state)
{
    (void)state;
    static const char *const sets[] = {"top_part=0.5", "consensus=0.5"};
    struct workers *stage = stage_open(choco_play, 2, 4, sets, 2);
    stage_step(stage, 0, (const float[]){8, 1, 0, -4});
    const struct content *content = stage->posts[0].message.content;
    assert_int_equal(stage->posts[0].message.bytes, 4 + 2 * 8);
    assert_true(content->count == 2 && content->indexes[0] == 0 && content->indexes[1] == 3);
    assert_true(content->values[0] == 8 && content->values[1] == -4);
    assert_false(stage_may_step(stage, 0));
    stage_deliver(stage, 0);
    assert_true(stage_may_step(stage, 1) && stage_weights(stage, 1)[0] == 0);
    stage_step(stage, 1, (const float[]){0, 0, 2, 0});
    const float one[] = {2, 0, 1.5f, -1}, zero[] = {6, 1, 0.5f, -3};
    assert_memory_equal(stage_weights(stage, 1), one, sizeof one);
    stage_deliver(stage, 0);
    assert_memory_equal(stage_weights(stage, 0), zero, sizeof zero);
    stage_step(stage, 0,
               NULL); /* the replica lacks -2, 1, 0.5 and 1; of equal entries the first is sent */
    content = stage->posts[0].message.content;
    assert_true(content->count == 2 && content->indexes[0] == 0 && content->values[0] == -2);
    assert_true(content->indexes[1] == 1 && content->values[1] == 1);
    stage_close(stage);
}

/* Each receiver gets the same message once. */
static void neighbours_receive_equal_messages(void **state)
{
    (void)state;
    static const char *const graphs[][2] = {{"graph=ring", "consensus=0.3"},
                                            {"graph=full", "consensus=0.3"}};
    for (int full = 0; full < 2; full++) {
        struct workers *stage = stage_open(choco_play, 5, 3, graphs[full], 2);
        stage_step(stage, 3, (const float[]){1, 2, 3});
        assert_int_equal(stage->posts_count, full ? 4 : 2);
        for (uint32_t k = 0; k < stage->posts_count; k++) {
            assert_ptr_equal(stage->posts[k].message.content, stage->posts[0].message.content);
            assert_int_equal(stage->posts[k].to, full ? (k < 3 ? k : 4) : (k == 0 ? 2 : 4));
        }
        stage_close(stage);
    }
}

static const char *const settings[][3] = {{"graph=ring", "top_part=0.3", "consensus=0.3"},
                                          {"graph=full", "top_part=0.3", "consensus=0.3"}};

/* No order of messages changes the mean. Once workers learn nothing, all of them converge. */
static void consensus_keeps_the_mean_and_converges(void **state)
{
    (void)state;
    for (int graph = 0; graph < 2; graph++) {
        struct workers *stage = stage_open(choco_play, 6, 4, settings[graph], 3);
        struct rng rng = rng_new(8, 0);
        double produced[4] = {0};
        for (int k = 0; k < 30000; k++) {
            const uint32_t i = rng_below(&rng, 6);
            float change[4] = {0};
            if (stage->posts_count > 0 && rng_below(&rng, 3))
                stage_deliver(stage, 0);
            if (!stage_may_step(stage, i))
                continue;
            for (int c = 0; k < 300 && c < 4; c++) {
                change[c] = (float)rng_uniform(&rng);
                produced[c] += (double)change[c];
            }
            stage_step(stage, i, change);
        }
        assert_true(stage->steps[0] > 300 && produced[0] > 1);
        for (size_t c = 0; c < 4; c++)
            for (uint32_t i = 0; i < 6; i++)
                assert_float_equal((double)stage_weights(stage, i)[c], produced[c] / 6, 0.02);
        stage_close(stage);
    }
}

static void messages_of_the_next_round_wait(void **state)
{
    (void)state;
    static const char *const sets[] = {"top_part=1", "consensus=1"};
    struct workers *stage = stage_open(choco_play, 3, 2, sets, 2);
    stage_step(stage, 0, (const float[]){3, 0});
    stage_step(stage, 1, (const float[]){6, 0});
    stage_step(stage, 2, NULL);
    stage_deliver(stage, 0); /* from 0 to 1 */
    stage_deliver(stage, 1); /* from 1 to 0 */
    stage_deliver(stage, 2); /* from 2 to 0 */
    stage_deliver(stage, 2); /* from 2 to 1 */
    assert_true(stage_weights(stage, 0)[0] == 3 && stage_weights(stage, 1)[0] == 3);
    assert_true(stage_weights(stage, 2)[0] == 0); /* worker 2 still waits for both neighbours */
    stage_step(stage, 0, (const float[]){30, 0});
    assert_int_equal(stage->posts[3].message.bytes, 4 + 2 * 4);
    /* to worker 2, of a round that worker 2 has not reached */
    stage_deliver(stage, 3);
    assert_true(stage_weights(stage, 2)[0] == 0 && !stage_may_step(stage, 2));
    stage_deliver(stage, 0);
    stage_deliver(stage, 0);
    assert_true(stage_weights(stage, 2)[0] == 3 && stage_may_step(stage, 2));
    stage_close(stage);
}

static void replicas_start_at_the_initial_weights(void **state)
{
    (void)state;
    struct workers *stage = stage_new(4, 2, NULL, 0);
    stage_begin(stage, choco_play, (const float[]){7, -3});
    for (uint32_t k = 0; k < 8; k++) {
        stage_step(stage, k % 4, NULL);
        if (k % 4 == 3)
            stage_deliver_all(stage);
    }
    for (uint32_t i = 0; i < 4; i++)
        assert_true(stage_weights(stage, i)[0] == 7 && stage_weights(stage, i)[1] == -3);
    assert_int_equal(stage->sent_bytes, 8 * 2 * 4); /* only the messages of the 8 steps */
    stage_close(stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_move_towards_the_replicas),
        cmocka_unit_test(neighbours_receive_equal_messages),
        cmocka_unit_test(consensus_keeps_the_mean_and_converges),
        cmocka_unit_test(messages_of_the_next_round_wait),
        cmocka_unit_test(replicas_start_at_the_initial_weights),
    };
    secret_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
