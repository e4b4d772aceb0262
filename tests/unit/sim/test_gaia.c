/* Gaia sends significant updates and adds up the rest. Barriers and clocks make workers wait. */
#include <math.h>

#include "workers/workers_stage.h"

#define ENTRIES 8

static const char *const sets[] = {"significance=0.1", "gain=2"};
static const float start[ENTRIES] = {10, 10, 0, 100, 1, 1, 1, 1};

static struct workers *open_two(int count)
{
    struct workers *stage = stage_new(2, ENTRIES, sets, count);
    stage_begin(stage, gaia_play, start);
    return stage;
}

/* A change is significant from a tenth of the weight on: 2 in 12, 20 in 80, and any change from 0,
 * but not 0.5 in 10.5. In the second step 0.071 of the weight is enough, so 0.8 in 10.8 is
 * significant. */
static void significant_updates_are_sent_and_the_rest_adds_up(void **state)
{
    (void)state;
    struct workers *stage = open_two(2);
    stage_step(stage, 0, (const float[ENTRIES]){0.5f, 2, 0.001f, -20});
    const struct content *content = stage->posts[0].message.content;
    assert_int_equal(stage->posts[0].message.bytes, 8 + 3 * 8);
    assert_int_equal(stage->posts[0].message.number, 1);
    assert_true(content->count == 3 && content->indexes[0] == 1 && content->indexes[1] == 2 &&
                content->indexes[2] == 3);
    stage_deliver(stage, 0);
    const float said[] = {10, 12, 0.001f, 80, 1, 1, 1, 1};
    assert_memory_equal(stage_weights(stage, 1), said, sizeof said);
    assert_true(stage_weights(stage, 0)[0] == 10.5f);
    stage_step(stage, 0, (const float[ENTRIES]){0.3f});
    assert_int_equal(stage->posts[0].message.content->count, 1);
    stage_deliver(stage, 0);
    assert_float_equal(stage_weights(stage, 1)[0], 10.8, 1e-5);
    stage_step(stage, 0, NULL);
    assert_int_equal(stage->posts[0].message.bytes, 8); /* only the clock */
    stage_deliver(stage, 0);
    stage_step(stage, 0, (const float[ENTRIES]){9, 9, 9, -60, 9, 9, 9, 9});
    /* a dense message is shorter here */
    assert_int_equal(stage->posts[0].message.bytes, 8 + ENTRIES * 4);
    stage_close(stage);
}

/* Worker 1 learns nothing. It lacks only insignificant updates of worker 0. */
static void unsent_updates_are_insignificant(void **state)
{
    (void)state;
    static const char *const far[] = {"significance=0.1", "gain=2", "clock_bound=1000"};
    struct workers *stage = stage_new(2, ENTRIES, far, 3);
    struct rng rng = rng_new(9, 0);
    stage_begin(stage, gaia_play, start);
    for (int t = 1; t <= 500; t++) {
        float change[ENTRIES];
        for (int c = 0; c < ENTRIES; c++)
            change[c] = 0.02f * ((float)rng_uniform(&rng) - 0.4f);
        stage_step(stage, 0, change);
        stage_deliver_all(stage);
        for (int c = 0; c < ENTRIES; c++) {
            const double w = (double)stage_weights(stage, 0)[c];
            assert_true(fabs(w - (double)stage_weights(stage, 1)[c]) <=
                        0.1 / sqrt(t) * fabs(w) + 1e-3);
        }
    }
    assert_true(stage->sent_bytes < 500 * (8 + ENTRIES * 4));
    stage_close(stage);
}

static void a_worker_waits_for_announced_messages(void **state)
{
    (void)state;
    struct workers *stage = open_two(2);
    stage->busy = 1; /* another message uses the line */
    stage_step(stage, 0, (const float[ENTRIES]){2, 2});
    assert_int_equal(stage->posts_count, 2);
    assert_int_equal(stage->posts[0].message.bytes, 8 + 2 * 4);
    assert_true(stage->posts[0].message.priority > stage->posts[1].message.priority);
    assert_true(stage_may_step(stage, 1));
    stage_deliver(stage, 0);
    assert_false(stage_may_step(stage, 1));
    stage_deliver(stage, 0);
    assert_true(stage_may_step(stage, 1) && stage_weights(stage, 1)[0] == 12);
    stage_step(stage, 0, NULL); /* nothing significant, so nothing to announce */
    assert_int_equal(stage->posts_count, 1);
    stage_close(stage);
}

static void no_worker_exceeds_the_clock_bound(void **state)
{
    (void)state;
    static const char *const bound[] = {"clock_bound=2"};
    struct workers *stage = stage_open(gaia_play, 3, 1, bound, 1);
    stage_step(stage, 0, NULL);
    stage_step(stage, 0, NULL);
    stage_deliver_all(stage);
    assert_false(stage_may_step(stage, 0));
    stage_step(stage, 1, NULL);
    stage_deliver_all(stage);
    assert_false(stage_may_step(stage, 0)); /* worker 2 has made no step */
    stage_step(stage, 2, NULL);
    assert_false(stage_may_step(stage, 0));
    stage_deliver_all(stage);
    stage_step(stage, 0, NULL);
    assert_false(stage_may_step(stage, 0));
    stage_close(stage);
}

static void by_default_applies_the_mean_of_all(void **state)
{
    (void)state;
    struct workers *stage = stage_open(gaia_play, 4, 1, NULL, 0);
    stage_step(stage, 0, (const float[]){4});
    stage_deliver_all(stage);
    for (uint32_t i = 0; i < 4; i++)
        assert_true(stage_weights(stage, i)[0] == 1);
    stage_close(stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(significant_updates_are_sent_and_the_rest_adds_up),
        cmocka_unit_test(unsent_updates_are_insignificant),
        cmocka_unit_test(a_worker_waits_for_announced_messages),
        cmocka_unit_test(no_worker_exceeds_the_clock_bound),
        cmocka_unit_test(by_default_applies_the_mean_of_all),
    };
    secret_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
