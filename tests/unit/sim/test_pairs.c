/* Strategies whose rounds exchange in pairs: pairing, messages, and moves. */
#include <math.h>

#include "crypto/secret.h"
#include "strategies/pairs.h"
#include "support/sim/strategy_play.h"

static const char two[] = "[scenario]\n"
                          "seconds = 10\n"
                          "nodes = 2 alike, 160 samples/s, up 1 Mbit/s, down 8 Mbit/s\n"
                          "link = all, rtt 80 ms\n"
                          "[model]\n"
                          "layers = dense 10\n"
                          "[data]\n"
                          "source = generated\n"
                          "train_count = 600\n"
                          "test_count = 200\n"
                          "[strategy]\n"
                          "local_steps = 10\n";

static void each_node_has_one_partner_and_meets_all_others(void **state)
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

static void noloco_moves_by_momentum_and_towards_the_mean(void **state)
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

static void gasloc_moves_from_the_mean_by_its_momentum(void **state)
{
    (void)state;
    float weights[] = {1, 5}, kept[] = {0.25f, 0};
    const float progress[] = {2, 4}, mean_weights[] = {3, 5}, mean_progress[] = {1, 4};
    const struct pairs_move move = {.rate = 0.5f,
                                    .mu = 0.5f,
                                    .parameters = 2,
                                    .mean_weights = mean_weights,
                                    .mean_progress = mean_progress,
                                    .progress = progress,
                                    .weights = weights,
                                    .kept = kept};
    gasloc_move(&move);
    assert_true(fabsf(weights[0] - (3.5f + 0.5f * 1.25f)) < 1e-6f);
    assert_true(fabsf(weights[1] - (7 + 0.5f * 2)) < 1e-6f);
    assert_true(fabsf(kept[0] - (4.125f - 2)) < 1e-6f && fabsf(kept[1] - 1) < 1e-6f);
}

#define NODES 8

/* Returns the standard deviation of a weight over nodes after 200 rounds without training. It is 1
 * at the start. */
static double spread(void (*move)(const struct pairs_move *), float mu)
{
    const float nothing = 0;
    float weights[NODES], kept[NODES] = {0};
    struct rng rng = rng_new(3, 0);
    for (int i = 0; i < NODES; i++)
        weights[i] = i % 2 ? 1 : -1;
    for (int round = 0; round < 200; round++) {
        uint32_t to[NODES];
        float means[NODES];
        (void)pairs_draw(&rng, NODES, to);
        for (int i = 0; i < NODES; i++)
            means[i] = (weights[i] + weights[to[i]]) / 2;
        for (int i = 0; i < NODES; i++)
            move(&(struct pairs_move){.rate = 0.7f,
                                      .mu = mu,
                                      .parameters = 1,
                                      .mean_weights = &means[i],
                                      .mean_progress = &nothing,
                                      .progress = &nothing,
                                      .weights = &weights[i],
                                      .kept = &kept[i]});
    }
    double sum = 0, squares = 0;
    for (int i = 0; i < NODES; i++) {
        sum += weights[i];
        squares += (double)weights[i] * weights[i];
    }
    return sqrt(fmax(0, squares / NODES - sum / NODES * sum / NODES));
}

static void pairs_converge_unless_the_momentum_is_too_high(void **state)
{
    (void)state;
    assert_true(spread(noloco_move, 0.5f) < 1e-3);
    assert_true(spread(gasloc_move, 0.5f) < 1e-3);
    assert_true(spread(gasloc_move, 0.9f) > 10);
}

static void gasloc_with_one_node_equals_diloco(void **state)
{
    (void)state;
    const char *sets[] = {"strategy.outer_rate=0.7", "strategy.outer_momentum=0.9"};
    struct played gasloc = play_text(strategy_one, "gasloc", sets, 2);
    struct played diloco = play_text(strategy_one, "diloco", sets, 2);
    assert_int_equal(gasloc.outcome.nodes[0].steps, 50);
    assert_same_weights(&gasloc, &diloco, 1e-4f);
    play_end(&gasloc);
    play_end(&diloco);
}

/* With two nodes the pair is the whole swarm. Without momentum it equals DiLoCo. */
static void two_nodes_in_a_pair_equal_diloco(void **state)
{
    (void)state;
    const char *sets[] = {"strategy.outer_momentum=0", "strategy.outer_rate=0.7",
                          "scenario.seconds=8"};
    struct played noloco = play_text(two, "noloco", sets, 3);
    struct played gasloc = play_text(two, "gasloc", sets, 3);
    struct played diloco = play_text(two, "diloco", sets, 3);
    assert_int_equal(noloco.outcome.nodes[0].steps, 30);
    assert_int_equal(gasloc.outcome.nodes[0].steps, 30);
    assert_int_equal(diloco.outcome.nodes[0].steps, 30);
    assert_same_weights(&noloco, &diloco, 1e-5f);
    assert_same_weights(&gasloc, &diloco, 1e-5f);
    play_end(&noloco);
    play_end(&gasloc);
    play_end(&diloco);
}

/* Two of three nodes exchange. A round takes 2.542 s: ten steps of the slowest node, 2 s, and two
 * vectors over 1 Mbit/s and 40 ms. */
static void a_pair_of_noloco_sends_its_weights_and_its_progress(void **state)
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

/* One vector takes 0.291 s, so four rounds fit 10 s. */
static void a_pair_of_gasloc_sends_its_weights(void **state)
{
    (void)state;
    struct played played = play("gasloc", NULL);
    assert_int_equal(played.outcome.nodes[2].steps, 40);
    assert_int_equal(last_moment(&played)->sent_bytes, 4 * 2 * 4 * PARAMETERS);
    assert_true(played.outcome.accuracy > 0.25);
    play_end(&played);
}

static void the_seed_draws_the_pairs(void **state)
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
        cmocka_unit_test(each_node_has_one_partner_and_meets_all_others),
        cmocka_unit_test(noloco_moves_by_momentum_and_towards_the_mean),
        cmocka_unit_test(gasloc_moves_from_the_mean_by_its_momentum),
        cmocka_unit_test(pairs_converge_unless_the_momentum_is_too_high),
        cmocka_unit_test(gasloc_with_one_node_equals_diloco),
        cmocka_unit_test(two_nodes_in_a_pair_equal_diloco),
        cmocka_unit_test(a_pair_of_noloco_sends_its_weights_and_its_progress),
        cmocka_unit_test(a_pair_of_gasloc_sends_its_weights),
        cmocka_unit_test(the_seed_draws_the_pairs),
    };
    secret_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
