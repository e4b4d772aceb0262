/* Strom: sent plus kept equals learned, and all weights follow the messages. */
#include <math.h>

#include "workers/workers_stage.h"

static const char *const sets[] = {"threshold=2", "gain=2"};

static void entries_above_the_threshold_are_sent_as_signs(void **state)
{
    (void)state;
    struct workers *stage = stage_open(strom_play, 2, 4, sets, 2);
    stage_step(stage, 0, (const float[]){2, -7, 1.5f, 2.5f});
    assert_int_equal(stage->posts_count, 1);
    const struct content *content = stage->posts[0].message.content;
    assert_int_equal(stage->posts[0].message.bytes, 2 * 4);
    assert_true(content->count == 2 && content->indexes[0] == 1 && content->indexes[1] == 3);
    assert_true(content->values[0] == -2 && content->values[1] == 2);
    const float said[] = {0, -2, 0, 2}, later[] = {0, -4, 2, 2};
    assert_memory_equal(stage_weights(stage, 0), said, sizeof said);
    stage_deliver(stage, 0);
    assert_memory_equal(stage_weights(stage, 1), said, sizeof said);
    stage_step(stage, 0, (const float[]){0, 0, 1, 0}); /* -5, 2.5 and 0.5 are kept for later */
    stage_deliver(stage, 0);
    assert_memory_equal(stage_weights(stage, 0), later, sizeof later);
    assert_memory_equal(stage_weights(stage, 1), later, sizeof later);
    assert_int_equal(stage->sent_bytes, 4 * 4);
    stage_step(
        stage, 0,
        (const float[]){0, 3, 0, 0}); /* an entry must exceed the threshold, not only reach it */
    assert_int_equal(stage->posts_count, 0);
    stage_close(stage);
}

/* After enough steps without progress, the unsent rest of each entry is below the threshold. */
static void progress_is_sent_except_for_less_than_a_threshold(void **state)
{
    (void)state;
    static const char *const three[] = {"threshold=0.5", "gain=3"};
    struct workers *stage = stage_open(strom_play, 3, 2, three, 2);
    struct rng rng = rng_new(2, 0);
    double produced[2] = {0};
    for (int k = 0; k < 600; k++) {
        const float x = k < 300 ? (float)rng_uniform(&rng) - 0.3f : 0, change[] = {x, -2 * x};
        stage_step(stage, (uint32_t)k % 3, change);
        produced[0] += (double)change[0];
        produced[1] += (double)change[1];
        if (k % 7 == 0)
            stage_deliver_all(stage);
    }
    stage_deliver_all(stage);
    for (size_t c = 0; c < 2; c++)
        for (uint32_t i = 0; i < 3; i++) {
            assert_true(fabs((double)stage_weights(stage, i)[c] - produced[c]) <= 3 * 0.5 + 1e-3);
            assert_true(stage_weights(stage, i)[c] == stage_weights(stage, 0)[c]);
            const double thresholds = (double)stage_weights(stage, i)[c] / 0.5;
            assert_true(fabs(thresholds - round(thresholds)) < 1e-6);
        }
    assert_true(produced[0] > 20);
    stage_close(stage);
}

static void by_default_applies_the_mean_of_all(void **state)
{
    (void)state;
    struct workers *stage = stage_open(strom_play, 4, 1, sets, 1);
    stage_step(stage, 0, (const float[]){3});
    stage_deliver_all(stage);
    for (uint32_t i = 0; i < 4; i++)
        assert_true(stage_weights(stage, i)[0] == 0.5f);
    stage_close(stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_above_the_threshold_are_sent_as_signs),
        cmocka_unit_test(progress_is_sent_except_for_less_than_a_threshold),
        cmocka_unit_test(by_default_applies_the_mean_of_all),
    };
    secret_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
