/* Messages with values above a threshold: sent plus kept equals learned. */
#include <math.h>

#include "workers/workers_stage.h"

static const char *const sets[] = {"threshold=2", "gain=2"};

static void entries_above_the_threshold_are_sent_as_values(void **state)
{
    (void)state;
    struct workers *stage = stage_open(threshold_play, 2, 6, sets, 2);
    const float first[] = {2, -7, 1.5f, 2.5f, 0, 0}, told[] = {0, -7, 0, 2.5f, 0, 0};
    const float second[] = {0, 1, 1, 0, 0, 0}, later[] = {0, -7, 2.5f, 2.5f, 0, 0};
    stage_step(stage, 0, first);
    const struct content *content = stage->posts[0].message.content;
    assert_int_equal(stage->posts[0].message.bytes, 2 * 8);
    assert_true(content->count == 2 && content->indexes[0] == 1 && content->indexes[1] == 3);
    assert_memory_equal(stage_weights(stage, 0), first, sizeof first); /* the whole step */
    stage_deliver(stage, 0);
    assert_memory_equal(stage_weights(stage, 1), told, sizeof told);
    stage_step(stage, 0, second); /* all 2.5 of entry 2; nothing of entry 1 was kept */
    stage_deliver(stage, 0);
    assert_memory_equal(stage_weights(stage, 1), later, sizeof later);
    stage_step(stage, 0, (const float[]){9, 9, 9, 9, 0, 0});
    assert_int_equal(stage->posts[0].message.bytes, 6 * 4); /* a dense message is shorter here */
    stage_deliver(stage, 0);
    stage_step(stage, 0, (const float[]){2, 0, 0, 0, 0, 0});
    assert_int_equal(stage->posts_count, 0);
    stage_close(stage);
}

/* Worker 1 learns nothing, so its weights are the sum of worker 0's messages. */
static void progress_is_sent_except_for_less_than_a_threshold(void **state)
{
    (void)state;
    struct workers *stage = stage_open(threshold_play, 2, 1, sets, 2);
    struct rng rng = rng_new(2, 0);
    double produced = 0;
    uint64_t messages = 0;
    for (int k = 0; k < 1000; k++) {
        const float change = (float)rng_uniform(&rng) - 0.4f;
        stage_step(stage, 0, &change);
        produced += (double)change;
        messages += stage->posts_count;
        stage_deliver_all(stage);
        assert_true(fabs((double)stage_weights(stage, 1)[0] - produced) <= 2 + 1e-3);
    }
    assert_float_equal((double)stage_weights(stage, 0)[0], produced, 1e-3);
    assert_true(messages > 20 && messages < 100 && produced > 50);
    stage_close(stage);
}

static void by_default_applies_the_mean_of_all(void **state)
{
    (void)state;
    struct workers *stage = stage_open(threshold_play, 4, 1, sets, 1);
    stage_step(stage, 0, (const float[]){4});
    stage_deliver_all(stage);
    for (uint32_t i = 0; i < 4; i++)
        assert_true(stage_weights(stage, i)[0] == 1);
    stage_close(stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_above_the_threshold_are_sent_as_values),
        cmocka_unit_test(progress_is_sent_except_for_less_than_a_threshold),
        cmocka_unit_test(by_default_applies_the_mean_of_all),
    };
    secret_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
