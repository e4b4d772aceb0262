/* Consensus ADMM: equals SGD for one node, converges, and minimizes the sum of losses. */
#include <math.h>

#include "crypto/secret.h"
#include "support/sim/strategy_play.h"

#define WEIGHTS 7840 /* weights of a layer of 784 by 10 without biases */

/* Each node uses all of its 32 samples in each step. So steps are deterministic, and the nodes'
 * data differ strongly. */
static const char three_small[] = "[scenario]\n"
                                  "seconds = 400\n"
                                  "evaluate_s = 0\n"
                                  "nodes = 3 alike, 160 samples/s\n"
                                  "[model]\n"
                                  "layers = dense 10 plain\n"
                                  "[data]\n"
                                  "source = generated\n"
                                  "train_count = 96\n"
                                  "test_count = 200\n"
                                  "[train]\n"
                                  "momentum = 0\n"
                                  "rate = 0.05\n"
                                  "weight_decay = 0.1\n"
                                  "[strategy]\n"
                                  "local_steps = 20\n"
                                  "rho = 0.3\n";

static void one_node_without_a_pull_equals_its_optimizer(void **state)
{
    (void)state;
    const char *sets[] = {"strategy.rho=0"};
    struct played alone = play_text(strategy_one, "single", NULL, 0);
    struct played admm = play_text(strategy_one, "admm", sets, 1);
    assert_int_equal(admm.outcome.nodes[0].steps, 50);
    struct by_hand hand;
    by_hand_begin(&hand, &admm);
    for (int step = 0; step < 50; step++)
        (void)learner_step(hand.learners[0]);
    assert_as_by_hand(&hand, &admm, 0);
    assert_true(alone.outcome.loss == admm.outcome.loss);
    by_hand_end(&hand);
    play_end(&alone);
    play_end(&admm);
}

static double apart(const float *a, const float *b)
{
    double squares = 0;
    for (int c = 0; c < WEIGHTS; c++)
        squares += pow((double)a[c] - (double)b[c], 2);
    return sqrt(squares);
}

/* Computes a round by hand. Returns the largest distance of a node's weights from the consensus. */
static double make_round(const struct by_hand *hand, float x[3][WEIGHTS], float u[3][WEIGHTS],
                         float *z)
{
    static float gradient[WEIGHTS];
    for (int i = 0; i < 3; i++) {
        for (int step = 0; step < 20; step++) {
            learner_gradient(hand->learners[i], gradient);
            learner_read_weights(hand->learners[i], x[i]);
            for (int c = 0; c < WEIGHTS; c++)
                gradient[c] += 0.3f * (x[i][c] + u[i][c] - z[c]);
            (void)learner_descend(hand->learners[i], gradient);
        }
        learner_read_weights(hand->learners[i], x[i]);
    }
    double most = 0;
    for (int c = 0; c < WEIGHTS; c++) {
        z[c] = (x[0][c] + x[1][c] + x[2][c]) / 3; /* the u_i add up to 0 */
        for (int i = 0; i < 3; i++)
            u[i][c] += x[i][c] - z[c];
    }
    for (int i = 0; i < 3; i++)
        most = fmax(most, apart(x[i], z));
    return most;
}

static void nodes_keep_own_weights_and_reach_agreement(void **state)
{
    (void)state;
    static float x[3][WEIGHTS], u[3][WEIGHTS], z[WEIGHTS];
    const char *early = "scenario.seconds=12";
    struct played three = play_text(three_small, "admm", &early, 1);
    struct played all = play_text(three_small, "admm", NULL, 0);
    struct by_hand hand;
    by_hand_begin(&hand, &all);
    learner_read_weights(hand.learners[0], z);
    double first = 0, last = 0;
    assert_int_equal(three.outcome.nodes[0].steps, 3 * 20);
    assert_int_equal(all.outcome.nodes[0].steps, 100 * 20);
    for (int round = 1; round <= 100; round++) {
        last = make_round(&hand, x, u, z);
        first = round == 1 ? last : first;
        assert_true(round != 3 || apart(z, three.experiment.weights) < 1e-4);
    }
    assert_true(first > 0.5 && last < 1e-5);
    assert_true(apart(z, all.experiment.weights) < 1e-4);
    by_hand_end(&hand);
    play_end(&three);
    play_end(&all);
}

static void the_consensus_is_a_minimum_unlike_the_mean_of_local_steps(void **state)
{
    (void)state;
    struct played best = play_text(three_small, "allreduce", NULL, 0);
    struct played admm = play_text(three_small, "admm", NULL, 0);
    struct played local = play_text(three_small, "localsgd", NULL, 0);
    assert_true(weights_apart(&best, &admm) < 0.001);
    assert_true(weights_apart(&best, &local) > 0.03);
    play_end(&best);
    play_end(&admm);
    play_end(&local);
}

/* A round takes 2.495 s, so four fit 10 s. Ten steps of the slowest node take 2 s. Then 4 transfers
 * of a third of the weights over 1 Mbit/s and 40 ms take 0.495 s. */
static void a_round_costs_an_all_reduce_of_the_weights(void **state)
{
    (void)state;
    struct played played = play("admm", NULL);
    assert_int_equal(played.outcome.nodes[2].steps, 4 * 10);
    assert_int_equal(last_moment(&played)->samples, 4 * 10 * 3 * 32);
    assert_int_equal(last_moment(&played)->sent_bytes, 4 * 2 * 2 * 4 * PARAMETERS);
    play_end(&played);
}

/* The statistics of a batch norm follow measurements, also in the second step, when nodes have left
 * the consensus. */
static void statistics_are_not_pulled(void **state)
{
    (void)state;
    const char *sets[] = {"model.layers=dense 10, batchnorm, dense 10", "scenario.seconds=0.4",
                          "strategy.local_steps=2", "strategy.rho=0.5"};
    struct played pulled = play_text(strategy_free, "admm", sets, 4);
    sets[3] = "strategy.rho=0";
    struct played free = play_text(strategy_free, "admm", sets, 4);
    const size_t parameters = experiment_parameters(&free.experiment);
    const size_t trained = model_trained(free.experiment.made.model);
    assert_int_equal(parameters - trained, 20);
    for (size_t c = trained; c < parameters; c++)
        assert_true(pulled.experiment.weights[c] == free.experiment.weights[c]);
    assert_true(pulled.experiment.weights[0] != free.experiment.weights[0]);
    play_end(&pulled);
    play_end(&free);
}

static void admm_learns(void **state)
{
    (void)state;
    const char *sets[] = {"scenario.seconds=20", "train.rate=0.02", "strategy.local_steps=10"};
    struct played played = play_text(strategy_free, "admm", sets, 3);
    assert_true(played.outcome.loss < 0.6 * loss_at_start(&played));
    play_end(&played);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_node_without_a_pull_equals_its_optimizer),
        cmocka_unit_test(nodes_keep_own_weights_and_reach_agreement),
        cmocka_unit_test(the_consensus_is_a_minimum_unlike_the_mean_of_local_steps),
        cmocka_unit_test(a_round_costs_an_all_reduce_of_the_weights),
        cmocka_unit_test(statistics_are_not_pulled),
        cmocka_unit_test(admm_learns),
    };
    secret_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
