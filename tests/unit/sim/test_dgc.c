/* Deep Gradient Compression: momentum of messages, entries kept for later, and the warm-up. */
#include <math.h>

#include "crypto/secret.h"
#include "support/sim/strategy_play.h"

#define MATRIX 7840 /* parameters that are not biases */

/* A straightforward implementation of one node. */
struct node {
    float velocity[PARAMETERS];
    float kept[PARAMETERS];
    double produced[PARAMETERS];
    double told[PARAMETERS];
};

struct rule {
    float mu;
    float decay;
    float clip; /* maximum length of one node's gradient */
    bool nesterov;
    int largest;
};

static int by_falling_magnitude(const void *a, const void *b)
{
    const float x = fabsf(*(const float *)a), y = fabsf(*(const float *)b);
    return (x < y) - (x > y);
}

static float threshold(const float *values, int largest)
{
    static float sorted[MATRIX];
    memcpy(sorted, values, sizeof sorted);
    qsort(sorted, MATRIX, sizeof *sorted, by_falling_magnitude);
    return fabsf(sorted[largest - 1]);
}

static void clip(float *gradient, float most)
{
    double squares = 0;
    for (int c = 0; c < PARAMETERS; c++)
        squares += (double)gradient[c] * gradient[c];
    assert_true(most == 0 || sqrt(squares) > (double)most);
    for (int c = 0; c < PARAMETERS && most > 0; c++)
        gradient[c] *= (float)((double)most / sqrt(squares));
}

/* Replaces gradient[PARAMETERS] by the message. */
static void message_of(struct node *node, const struct rule *rule, const float *weights,
                       float *gradient)
{
    clip(gradient, rule->clip);
    for (int c = 0; c < PARAMETERS; c++) {
        const float g = gradient[c] + (c < MATRIX ? rule->decay * weights[c] : 0);
        node->velocity[c] = rule->mu * node->velocity[c] + (rule->nesterov ? rule->mu * g : g);
        const float step = node->velocity[c] + (rule->nesterov ? g : 0);
        node->kept[c] += step;
        node->produced[c] += (double)step;
    }
    const float least = threshold(node->kept, rule->largest);
    int told = 0;
    for (int c = 0; c < PARAMETERS; c++) {
        const bool is_told = c >= MATRIX || fabsf(node->kept[c]) >= least;
        gradient[c] = is_told ? node->kept[c] : 0;
        node->told[c] += (double)gradient[c];
        node->kept[c] -= gradient[c];
        if (is_told && c < MATRIX)
            node->velocity[c] = 0;
        told += is_told && c < MATRIX;
    }
    assert_int_equal(told, rule->largest);
}

/* Checks that the steps equal the play's, and that sent plus kept equals produced at the last node.
 */
static void assert_by_hand(const struct rule *rule, const char *const *sets, int count)
{
    static struct node nodes[3];
    static float gradient[PARAMETERS], mean[PARAMETERS], weights[PARAMETERS];
    struct played played = play_text(strategy_free, "dgc", sets, count);
    struct by_hand hand;
    memset(nodes, 0, sizeof nodes);
    by_hand_begin(&hand, &played);
    assert_int_equal(played.outcome.nodes[0].steps, 5);
    for (int step = 0; step < 5; step++) {
        memset(mean, 0, sizeof mean);
        learner_read_weights(hand.learners[0], weights);
        for (int i = 0; i < 3; i++) {
            learner_gradient(hand.learners[i], gradient);
            message_of(&nodes[i], rule, weights, gradient);
            for (int c = 0; c < PARAMETERS; c++)
                mean[c] += gradient[c] / 3;
        }
        for (int i = 0; i < 3; i++)
            (void)learner_descend_plainly(hand.learners[i], mean);
    }
    assert_as_by_hand(&hand, &played, 1e-5f);
    for (int c = 0; c < PARAMETERS; c++)
        assert_true(fabs(nodes[2].told[c] + (double)nodes[2].kept[c] - nodes[2].produced[c]) <
                    1e-5);
    by_hand_end(&hand);
    play_end(&played);
}

static void messages_have_momentum_and_the_rest_is_kept(void **state)
{
    (void)state;
    const char *sets[] = {"scenario.seconds=1", "train.momentum=0.9", "strategy.warmup_epochs=0",
                          "strategy.top_part=0.01", "train.weight_decay=0.1"};
    assert_by_hand(&(struct rule){.mu = 0.9f, .decay = 0.1f, .largest = 79}, sets, 5);
    sets[3] = "strategy.top_part=0.001";
    sets[4] = "train.nesterov=yes";
    assert_by_hand(&(struct rule){.mu = 0.9f, .nesterov = true, .largest = 8}, sets, 5);
}

/* Each of three nodes clips its gradient to train.clip times the square root of a third. */
static void gradients_are_clipped_before_accumulation(void **state)
{
    (void)state;
    const char *sets[] = {"scenario.seconds=1", "train.momentum=0.5", "strategy.warmup_epochs=0",
                          "strategy.top_part=0.02", "train.clip=1"};
    const struct rule rule = {.mu = 0.5f, .clip = 1 / sqrtf(3), .largest = 157};
    assert_by_hand(&rule, sets, 5);
}

/* A node that sends all entries keeps nothing for later. */
static void full_messages_without_momentum_equal_all_reduce(void **state)
{
    (void)state;
    const char *sets[] = {"scenario.seconds=2", "strategy.top_part=1", "train.weight_decay=0.01"};
    struct played dgc = play_text(strategy_free, "dgc", sets, 3);
    struct played allreduce = play_text(strategy_free, "allreduce", sets, 3);
    assert_int_equal(dgc.outcome.nodes[0].steps, 10);
    assert_same_weights(&dgc, &allreduce, 1e-5f);
    play_end(&dgc);
    play_end(&allreduce);
}

/* A step has 96 samples. So the first epoch of 600 samples ends after 7 steps, the second after 13,
 * the third after 19, and the fourth after 25. */
static void the_first_epochs_send_more_entries(void **state)
{
    (void)state;
    static const struct {
        const char *seconds;
        uint64_t steps, entries;
    } until[] = {{"scenario.seconds=1.4", 7, 7 * 1960},
                 {"scenario.seconds=2.6", 13, 7 * 1960 + 6 * 490},
                 {"scenario.seconds=3.8", 19, 7 * 1960 + 6 * 490 + 6 * 123},
                 {"scenario.seconds=5", 25, 7 * 1960 + 6 * 490 + 6 * 123 + 6 * 31},
                 {"scenario.seconds=6", 30, 7 * 1960 + 6 * 490 + 6 * 123 + 6 * 31 + 5 * 8}};
    for (size_t i = 0; i < sizeof until / sizeof until[0]; i++) {
        const char *sets[] = {until[i].seconds, "strategy.top_part=0.001"};
        struct played played = play_text(strategy_free, "dgc", sets, 2);
        assert_int_equal(played.outcome.nodes[0].steps, until[i].steps);
        assert_int_equal(last_moment(&played)->sent_bytes,
                         3 * 2 * (6 * until[i].entries + 4 * 10 * until[i].steps));
        play_end(&played);
    }
}

/* A step takes 0.2882 s, so 34 fit 10 s. It has 0.2 s of training, and two transfers of 79 entries
 * and ten biases over 1 Mbit/s and 40 ms. */
static void a_message_has_six_bytes_an_entry_and_goes_to_all(void **state)
{
    (void)state;
    const char *sets[] = {"strategy.top_part=0.01", "strategy.warmup_epochs=0"};
    struct played played = play_with("dgc", sets, 2);
    assert_int_equal(played.outcome.nodes[2].steps, 34);
    assert_int_equal(last_moment(&played)->sent_bytes, 34 * 3 * 2 * (6 * 79 + 4 * 10));
    play_end(&played);
}

/* The statistics of a batch norm follow all measurements, although nothing else is sent. */
static void statistics_are_averaged(void **state)
{
    (void)state;
    const char *sets[] = {"model.layers=dense 10, batchnorm, dense 10", "scenario.seconds=0.2",
                          "train.momentum=0.9"};
    struct played dgc = play_text(strategy_free, "dgc", sets, 3);
    struct played allreduce = play_text(strategy_free, "allreduce", sets, 3);
    const size_t parameters = experiment_parameters(&dgc.experiment);
    const size_t trained = model_trained(dgc.experiment.made.model);
    assert_int_equal(parameters - trained, 20);
    for (size_t c = trained; c < parameters; c++)
        assert_true(dgc.experiment.weights[c] == allreduce.experiment.weights[c]);
    play_end(&dgc);
    play_end(&allreduce);
}

static void dgc_learns(void **state)
{
    (void)state;
    const char *sets[] = {"scenario.seconds=40", "train.rate=0.01", "train.momentum=0.9",
                          "strategy.top_part=0.01"};
    struct played played = play_text(strategy_free, "dgc", sets, 4);
    assert_true(played.outcome.loss < 0.6 * loss_at_start(&played));
    play_end(&played);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_have_momentum_and_the_rest_is_kept),
        cmocka_unit_test(gradients_are_clipped_before_accumulation),
        cmocka_unit_test(full_messages_without_momentum_equal_all_reduce),
        cmocka_unit_test(the_first_epochs_send_more_entries),
        cmocka_unit_test(a_message_has_six_bytes_an_entry_and_goes_to_all),
        cmocka_unit_test(statistics_are_averaged),
        cmocka_unit_test(dgc_learns),
    };
    secret_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
