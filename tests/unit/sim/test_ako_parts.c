/* Ako on a stage: each entry of each step is sent once and in time. */
#include "workers/workers_stage.h"

#define ENTRIES 7

/* Seven entries are parts of 2, 2 and 3. A worker's step is complete at the other worker two steps
 * later. With a gain of 2 it counts fully. */
static void sends_each_entry_of_unequal_parts_once(void **state)
{
    (void)state;
    static const char *const sets[] = {"partitions=3", "gain=2"};
    static const size_t ends[] = {0, 2, 4, 7};
    float produced[ENTRIES] = {0}, told[ENTRIES] = {0};
    struct workers *stage = stage_open(ako_play, 2, ENTRIES, sets, 2);
    struct rng rng = rng_new(11, 0);
    for (int step = 0; step < 12; step++) {
        float change[ENTRIES];
        const size_t first = ends[step % 3], end = ends[step % 3 + 1];
        for (size_t c = 0; c < ENTRIES; c++)
            produced[c] += change[c] = (float)rng_below(&rng, 9) - 4;
        stage_step(stage, 0, change);
        assert_int_equal(stage->posts_count, 1);
        assert_int_equal(stage->posts[0].message.bytes, 4 * (end - first));
        stage_deliver(stage, 0);
        for (size_t c = first; c < end; c++)
            told[c] = produced[c];
        assert_memory_equal(stage_weights(stage, 0), produced, sizeof produced);
        assert_memory_equal(stage_weights(stage, 1), told, sizeof told);
    }
    stage_close(stage);
}

static void by_default_applies_the_mean_of_all(void **state)
{
    (void)state;
    static const char *const whole[] = {"partitions=1"};
    struct workers *stage = stage_open(ako_play, 4, 1, whole, 1);
    stage_step(stage, 0, (const float[]){4});
    stage_step(stage, 1, (const float[]){8});
    stage_deliver_all(stage);
    for (uint32_t i = 0; i < 4; i++)
        assert_true(stage_weights(stage, i)[0] == 3);
    stage_close(stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sends_each_entry_of_unequal_parts_once),
        cmocka_unit_test(by_default_applies_the_mean_of_all),
    };
    secret_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
