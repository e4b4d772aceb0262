/* Ako: each step sends a part of the model, and sends each entry of each step once. */
#include <math.h>

#include "crypto/secret.h"
#include "support/sim/strategy_play.h"

#define MODEL_BYTES (4ull * PARAMETERS)

/* Two equal nodes over a short line, so that messages arrive before the next step. */
static const char near[] = "[scenario]\n"
                           "seconds = 4\n"
                           "evaluate_s = 0\n"
                           "nodes = 1 a, 160 samples/s\n"
                           "nodes = 1 b, 160 samples/s\n"
                           "[model]\n"
                           "layers = dense 10\n"
                           "[data]\n"
                           "source = generated\n"
                           "train_count = 600\n"
                           "test_count = 200\n"
                           "[train]\n"
                           "momentum = 0\n";

/* The nodes make 200 steps in all, and send each part to two nodes. With five parts, a node sends
 * the whole model in five steps. */
static void a_step_sends_a_part_of_the_model_to_each(void **state)
{
    (void)state;
    const char *sets[] = {"strategy.partitions=5", "slow.up=unlimited", "fast.up=unlimited",
                          "slow.down=unlimited", "fast.down=unlimited"};
    struct played played = play_with("ako", sets, 5);
    assert_int_equal(played.outcome.nodes[2].steps, 100);
    assert_int_equal(played.outcome.nodes[2].sent_bytes, 100 / 5 * MODEL_BYTES * 2);
    assert_int_equal(last_moment(&played)->sent_bytes, (10 + 10 + 20) * MODEL_BYTES * 2);
    assert_true(played.outcome.loss < 2);
    play_end(&played);
}

/* 25 kB leave a slow node in its step of 0.2 s. The fast node's step takes 0.1 s. Two models
 * have 62.8 kB. */
static void auto_uses_as_many_parts_as_the_links_require(void **state)
{
    (void)state;
    struct played played = play("ako", NULL);
    const struct node_total *nodes = played.outcome.nodes;
    assert_true(nodes[0].steps == 50 && nodes[2].steps == 100); /* no worker waits */
    assert_in_range(nodes[0].sent_bytes, 48 * 2 * MODEL_BYTES / 3, 50 * 2 * MODEL_BYTES / 3);
    assert_in_range(nodes[2].sent_bytes, 98 * 2 * MODEL_BYTES / 6, 100 * 2 * MODEL_BYTES / 6);
    assert_true(nodes[0].up_use > 0.8 && nodes[2].up_use > 0.8);
    play_end(&played);
}

/* The whole model in each step and a fourth of it in each step move the weights nearly equally. So
 * no entry is lost or repeated. */
static void sends_every_entry_of_every_step_once(void **state)
{
    (void)state;
    const char *sum[] = {"strategy.partitions=1", "strategy.gain=2"};
    const char *parts[] = {"strategy.partitions=4", "strategy.gain=2"};
    struct played whole = play_text(near, "ako", sum, 2), four = play_text(near, "ako", parts, 2);
    assert_true(whole.outcome.nodes[0].steps == 20 && four.outcome.nodes[1].steps == 20);
    /* 20 is a multiple of 4: all entries were sent, at most three steps late */
    assert_same_weights(&whole, &four, 0.02f);
    assert_true(fabs(whole.outcome.loss - four.outcome.loss) < 0.02);
    play_end(&whole);
    play_end(&four);
}

/* With the mean of all workers, a single worker has only its own steps. */
static void one_worker_equals_a_single_node(void **state)
{
    (void)state;
    struct played alone = play_text(strategy_one, "single", NULL, 0);
    struct played ako = play_text(strategy_one, "ako", NULL, 0);
    assert_int_equal(ako.outcome.nodes[0].steps, 50);
    assert_same_weights(&alone, &ako, 1e-5f);
    play_end(&alone);
    play_end(&ako);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_sends_a_part_of_the_model_to_each),
        cmocka_unit_test(auto_uses_as_many_parts_as_the_links_require),
        cmocka_unit_test(sends_every_entry_of_every_step_once),
        cmocka_unit_test(one_worker_equals_a_single_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
