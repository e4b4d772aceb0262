/* GoSGD: the shares of all workers and messages in transit sum up to 1. */
#include <math.h>

#include "workers/workers_stage.h"

static const char *const always[] = {"probability=1"};

static void a_push_takes_half_of_the_share(void **state)
{
    (void)state;
    struct workers *stage = stage_open(gosgd_play, 2, 2, always, 1);
    stage_step(stage, 0, (const float[]){3, 6});
    assert_int_equal(stage->posts_count, 1);
    assert_true(stage->posts[0].message.weight == 0.25 && stage->posts[0].to == 1);
    assert_int_equal(stage->posts[0].message.bytes, 4 * 2 + 4);
    stage_deliver(stage, 0); /* mean of 0 with weight 1/2 and 3 with weight 1/4 */
    assert_float_equal(stage_weights(stage, 1)[0], 1, 1e-6);
    assert_float_equal(stage_weights(stage, 1)[1], 2, 1e-6);
    assert_true(stage_weights(stage, 0)[0] == 3); /* a pushing worker keeps its weights */
    stage_step(stage, 1, (const float[]){8, 0});
    assert_true(stage->posts[0].message.weight == 0.375 && stage->posts[0].to == 0);
    stage_deliver(stage, 0); /* mean of 3 with weight 1/4 and 9 with weight 3/8 */
    assert_float_equal(stage_weights(stage, 0)[0], 6.6, 1e-5);
    stage_step(stage, 0, NULL);
    assert_true(stage->posts[0].message.weight == 0.3125);
    stage_close(stage);
}

/* Computes all shares from messages: the sender's from the message, the receiver's as a sum. Shares
 * sum up to 1, so the weighted sum of the values is constant. */
static void shares_sum_up_to_1_and_keep_the_weighted_sum(void **state)
{
    (void)state;
    enum { COUNT = 5 };
    struct workers *stage = stage_open(gosgd_play, COUNT, 1, always, 1);
    double shares[COUNT], produced = 0;
    struct rng rng = rng_new(3, 0);
    for (int i = 0; i < COUNT; i++)
        shares[i] = 1.0 / COUNT;
    for (int k = 0; k < 300; k++) {
        const uint32_t i = rng_below(&rng, COUNT);
        const float change = k < 100 ? (float)rng_below(&rng, 9) - 4 : 0;
        produced += shares[i] * (double)change;
        stage_step(stage, i, &change);
        const struct stage_post *sent = &stage->posts[stage->posts_count - 1];
        assert_true(sent->from == i && sent->to != i);
        assert_true(fabs(shares[i] - 2 * sent->message.weight) < 1e-12);
        shares[i] = sent->message.weight;
        while (stage->posts_count > 4) {
            const uint32_t post = rng_below(&rng, stage->posts_count);
            shares[stage->posts[post].to] += stage->posts[post].message.weight;
            stage_deliver(stage, post);
        }
        double sum = 0, values = 0;
        for (uint32_t j = 0; j < COUNT; j++) {
            sum += shares[j];
            values += shares[j] * (double)stage_weights(stage, j)[0];
        }
        for (uint32_t j = 0; j < stage->posts_count; j++) {
            const struct sim_message *message = &stage->posts[j].message;
            sum += message->weight;
            values += message->weight * (double)message->content->values[0];
        }
        assert_true(fabs(sum - 1) < 1e-9 && fabs(values - produced) < 1e-4);
    }
    stage_close(stage);
}

static void pushes_follow_steps_with_the_given_probability(void **state)
{
    (void)state;
    static const char *const seldom[] = {"probability=0.1"};
    struct workers *stage = stage_open(gosgd_play, 4, 1, seldom, 1);
    uint32_t to[4] = {0};
    for (int k = 0; k < 2000; k++) {
        stage_step(stage, 2, NULL);
        for (; stage->posts_count > 0; stage_deliver(stage, 0))
            to[stage->posts[0].to]++;
    }
    assert_int_equal(to[2], 0);
    assert_true(to[0] > 40 && to[1] > 40 && to[3] > 40);
    assert_true(to[0] + to[1] + to[3] > 150 && to[0] + to[1] + to[3] < 250);
    stage_close(stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_push_takes_half_of_the_share),
        cmocka_unit_test(shares_sum_up_to_1_and_keep_the_weighted_sum),
        cmocka_unit_test(pushes_follow_steps_with_the_given_probability),
    };
    secret_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
