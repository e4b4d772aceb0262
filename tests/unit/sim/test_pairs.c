/* Rounds in pairs: who meets whom, what they send, and where that takes them. */
#include <math.h>

#include "crypto/secret.h"
#include "strategies/pairs.h"
#include "support/sim/strategy_play.h"

static const char two[] = "[scenario]\n"
                          "seconds = 10\n"
                          "local_steps = 10\n"
                          "nodes = 2 alike, 160 samples/s, up 1 Mbit/s, down 8 Mbit/s\n"
                          "link = all, rtt 80 ms\n"
                          "[model]\n"
                          "layers = dense 10\n"
                          "[data]\n"
                          "source = generated\n"
                          "train_count = 600\n"
                          "test_count = 200\n";

static void each_has_one_partner_and_in_time_every_other(void **state)
{
    (void)state;
    struct rng rng = rng_new(1, 0);
    for (uint32_t count = 1; count <= 9; count++) {
        uint32_t to[9], met[9][9] = {{0}};
        for (int round = 0; round < 200; round++) {
            uint32_t alone = 0;
            assert_int_equal(pairs_draw(&rng, count, to), count - count % 2);
            for (uint32_t i = 0; i < count; i++) {
                assert_true(to[i] < count && to[to[i]] == i);
                alone += to[i] == i;
                met[i][to[i]]++;
            }
            assert_int_equal(alone, count % 2);
        }
        for (uint32_t i = 0; i < count; i++)
            for (uint32_t j = 0; j < count; j++)
                assert_true((met[i][j] > 0) == (i != j || count % 2 == 1));
    }
}

static void noloco_goes_on_by_its_momentum_and_towards_the_mean(void **state)
{
    (void)state;
    float weights[] = {1, 5}, kept[] = {0.5f, -1};
    const float progress[] = {0.3f, 9}, mean_weights[] = {3, 5}, mean_progress[] = {0.1f, 2};
    const struct pairs_move move = {.rate = 0.7f,
                                    .mu = 0.5f,
                                    .parameters = 2,
                                    .mean_weights = mean_weights,
                                    .mean_progress = mean_progress,
                                    .progress = progress,
                                    .weights = weights,
                                    .kept = kept};
    noloco_move(&move);
    assert_true(fabsf(kept[0] - (0.25f + 0.07f + 1.4f)) < 1e-6f);
    assert_true(fabsf(kept[1] - (-0.5f + 1.4f)) < 1e-6f);
    assert_true(fabsf(weights[0] - 2.72f) < 1e-6f && fabsf(weights[1] - 5.9f) < 1e-6f);
}

/* With two nodes a pair is all: without momentum nothing is left to differ. */
static void two_nodes_of_noloco_are_two_nodes_of_diloco(void **state)
{
    (void)state;
    const char *sets[] = {"scenario.outer_momentum=0", "scenario.outer_rate=0.7",
                          "scenario.seconds=8"};
    struct played pairs = play_text(two, "noloco", sets, 3);
    struct played diloco = play_text(two, "diloco", sets, 3);
    assert_int_equal(pairs.outcome.nodes[0].steps, 30);
    assert_int_equal(diloco.outcome.nodes[0].steps, 30);
    assert_same_weights(&pairs, &diloco, 1e-5f);
    play_end(&pairs);
    play_end(&diloco);
}

/* Of three nodes two meet. A round: 10 steps of the slowest, 2 s; then two vectors over 1 Mbit/s
 * and 40 ms, 0.542 s. */
static void a_pair_sends_its_weights_and_its_progress(void **state)
{
    (void)state;
    struct played played = play("noloco", NULL);
    assert_int_equal(played.outcome.nodes[2].steps, 30);
    assert_int_equal(last_moment(&played)->samples, 3 * 10 * 3 * 32);
    assert_int_equal(last_moment(&played)->sent_bytes, 3 * 2 * 8 * PARAMETERS);
    assert_true(played.outcome.accuracy > 0.25);
    play_end(&played);
    played = play("noloco", "scenario.seconds=7.62");
    assert_int_equal(played.outcome.nodes[2].steps, 20);
    play_end(&played);
    played = play("noloco", "scenario.seconds=7.63");
    assert_int_equal(played.outcome.nodes[2].steps, 30);
    play_end(&played);
}

static void the_pairs_are_drawn_by_the_seed(void **state)
{
    (void)state;
    struct played first = play("noloco", NULL), again = play("noloco", NULL);
    struct played other = play("noloco", "scenario.seed=2");
    assert_true(first.outcome.loss == again.outcome.loss && isfinite(first.outcome.loss));
    assert_true(first.outcome.loss != other.outcome.loss);
    play_end(&first);
    play_end(&again);
    play_end(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_has_one_partner_and_in_time_every_other),
        cmocka_unit_test(noloco_goes_on_by_its_momentum_and_towards_the_mean),
        cmocka_unit_test(two_nodes_of_noloco_are_two_nodes_of_diloco),
        cmocka_unit_test(a_pair_sends_its_weights_and_its_progress),
        cmocka_unit_test(the_pairs_are_drawn_by_the_seed),
    };
    secret_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
