/* Training of image layers through model.h: gradients compared with finite differences, ten steps
 * compared with recorded losses, exclusive or learned completely, and schedules of the learning
 * rate. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/model/gradient_story.h"
#include "training/learning_rate_schedule.h"

static float momenta[ROOM];

#define GRADIENTS(name, line, ...)                                                                 \
    static void name(void **state)                                                                 \
    {                                                                                              \
        (void)state;                                                                               \
        check_gradients(line, (struct shape)__VA_ARGS__);                                          \
    }

GRADIENTS(dense_has_the_right_gradient, "dense 3", {1, 1, 7, 0})
GRADIENTS(dense_after_dense_has_the_right_gradient, "dense 5, dense 3", {2, 2, 2, 0})
GRADIENTS(relu_has_the_right_gradient, "dense 8, relu, dense 3", {1, 1, 6, 0})
GRADIENTS(sigmoid_has_the_right_gradient, "dense 8, sigmoid, dense 3", {1, 1, 6, 0})
GRADIENTS(tanh_has_the_right_gradient, "dense 8, tanh, dense 3", {1, 1, 6, 0})
GRADIENTS(conv_has_the_right_gradient, "conv 3 3x3, dense 3", {2, 5, 6, 0})
GRADIENTS(padded_conv_has_the_right_gradient, "conv 3 5x5 pad 2, dense 3", {2, 5, 4, 0})
GRADIENTS(conv_after_conv_has_the_right_gradient, "conv 3 3x3 pad 1, conv 2 3x3, dense 3",
          {1, 5, 5, 0})
GRADIENTS(conv_over_the_whole_image_has_the_right_gradient, "conv 4 5x5, dense 3", {1, 5, 5, 0})
GRADIENTS(conv_with_a_stride_has_the_right_gradient, "conv 3 3x3 stride 2 pad 1, dense 3",
          {2, 6, 7, 0})
GRADIENTS(conv_in_groups_has_the_right_gradient, "conv 6 3x3 pad 1 groups 3, dense 3", {3, 4, 5, 0})
GRADIENTS(depthwise_conv_has_the_right_gradient,
          "conv 4 3x3, tanh, conv 4 3x3 stride 2 pad 1 groups 4 plain, dense 3", {1, 7, 7, 0})
GRADIENTS(conv_without_biases_has_the_right_gradient,
          "conv 3 3x3 plain, tanh, conv 2 1x1 stride 2 plain, dense 3", {2, 6, 6, 0})
GRADIENTS(maxpool_has_the_right_gradient, "conv 3 3x3 pad 1, maxpool 2, dense 3", {1, 6, 7, 0})
GRADIENTS(maxpool_of_three_has_the_right_gradient, "conv 2 2x2, maxpool 3, dense 3", {1, 8, 7, 0})
GRADIENTS(a_first_layer_without_weights_passes_its_input, "relu, dense 4, tanh, dense 3",
          {1, 2, 3, 0})
GRADIENTS(a_first_maxpool_passes_its_input, "maxpool 2, conv 2 2x2, dense 3", {2, 6, 6, 0})
GRADIENTS(activation_after_activation_has_the_right_gradient,
          "dense 6, tanh, relu, sigmoid, tanh, dense 3", {1, 1, 5, 0})
GRADIENTS(activation_after_maxpool_has_the_right_gradient,
          "conv 3 3x3 pad 1, maxpool 2, tanh, dense 3", {1, 4, 4, 0})
GRADIENTS(a_deep_chain_has_the_right_gradient,
          "conv 3 3x3 pad 1, tanh, maxpool 2, conv 4 3x3 pad 1, relu, maxpool 2, "
          "dense 7, tanh, dense 6, tanh, dense 3",
          {2, 8, 8, 0})

static void predicted_numbers_have_the_right_gradient(void **state)
{
    (void)state;
    check_gradients_of_numbers("conv 3 3x3 pad 1, tanh, dense 5, tanh, dense 3",
                               (struct shape){2, 4, 4, 0});
}

/* The second activation must be applied, which gradients do not show. */
static void an_activation_after_no_weights_is_not_left_out(void **state)
{
    (void)state;
    const char *const lines[][2] = {
        {"tanh, dense 3", "dense 3"},
        {"relu, tanh, dense 3", "relu, dense 3"},
        {"dense 5, tanh, tanh, dense 3", "dense 5, tanh, dense 3"},
        {"maxpool 2, tanh, dense 3", "maxpool 2, dense 3"},
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        build(lines[i][0], (struct shape){1, 4, 4, 0}, CLASSES);
        const double with = mean_loss();
        model_free(model);
        build(lines[i][1], (struct shape){1, 4, 4, 0}, CLASSES);
        assert_true(fabs(with - mean_loss()) > 1e-3);
        model_free(model);
    }
    build("dense 3", (struct shape){1, 1, 1, 0}, CLASSES); /* the teardown frees this model */
}

static void a_batch_gives_the_mean_gradient_of_its_samples(void **state)
{
    (void)state;
    static float one[ROOM];
    static double mean[ROOM];
    struct score score = {0};
    build("conv 2 3x3 pad 1, relu, maxpool 2, dense 3", (struct shape){1, 6, 6, 0}, CLASSES);
    model_learn(model, drawn, gradients, batch_x, batch_labels, BATCH, &score);
    memset(mean, 0, sizeof mean);
    for (int i = 0; i < BATCH; i++) {
        model_learn(model, drawn, one, batch_x + i * 36, batch_labels + i, 1, &score);
        for (size_t p = 0; p < model_parameters(model); p++)
            mean[p] += (double)one[p] / BATCH;
    }
    for (size_t p = 0; p < model_parameters(model); p++)
        assert_true(fabs(mean[p] - (double)gradients[p]) < 1e-6);
}

/* The losses were recorded once. A machine whose sgemm sums in another order differs by far less
 * than the tolerance. */
static void ten_steps_give_the_losses_written_down(void **state)
{
    (void)state;
    const double want[10] = {1.54706693, 1.22975571, 1.04339932, 0.90253593, 0.78336469,
                             0.67483996, 0.57262258, 0.47947036, 0.40100234, 0.33741192};
    build("conv 4 3x3 pad 1, relu, maxpool 2, dense 8, tanh, dense 3", (struct shape){1, 6, 6, 0},
          CLASSES);
    const struct sgd sgd = {.rate = 0.05f,
                            .momentum = 0.9f,
                            .weight_decay = 0.01f,
                            .nesterov = true,
                            .decayed = model_parameters(model)};
    memset(momenta, 0, sizeof momenta);
    model_init(model, 5, drawn);
    for (int step = 0; step < 10; step++) {
        struct score score = {0};
        model_learn(model, drawn, gradients, batch_x, batch_labels, BATCH, &score);
        const double loss = score.loss / BATCH;
        if (!(fabs(loss - want[step]) <= 1e-4 * want[step]))
            fail_msg("step %d: %.8f, not %.8f", step, loss, want[step]);
        backend->optimize->sgd(backend, &sgd, NULL, model_parameters(model), drawn, gradients,
                               momenta);
    }
}

static void exclusive_or_is_learned(void **state)
{
    (void)state;
    const float cases[] = {0, 0, /**/ 0, 1, /**/ 1, 0, /**/ 1, 1};
    const int32_t answers[] = {0, 1, 1, 0};
    const struct sgd sgd = {.rate = 0.1f, .momentum = 0.9f};
    struct score score;
    build(model_preset("xor"), (struct shape){1, 1, 2, 0}, 2);
    memset(momenta, 0, sizeof momenta);
    model_init(model, 1, drawn);
    for (int step = 0; step < 1000; step++) {
        score = (struct score){0};
        model_learn(model, drawn, gradients, cases, answers, 4, &score);
        backend->optimize->sgd(backend, &sgd, NULL, model_parameters(model), drawn, gradients,
                               momenta);
    }
    assert_int_equal(score.correct, 4);
    const float *logits = model_forward(model, drawn, cases, 4);
    for (int i = 0; i < 4; i++) {
        const double truth = 1 / (1 + exp((double)(logits[2 * i] - logits[2 * i + 1])));
        assert_true(answers[i] ? truth >= 0.98 : truth <= 0.02);
    }
}

static double learners = 1; /* effective number of nodes that train */

static void check_rate(const struct optimizer *optimizer, uint64_t samples, double want)
{
    const struct sgd sgd = schedule_sgd(optimizer, (struct swarm_progress){samples, learners});
    if (!(fabs((double)sgd.rate - want) <= 1e-6 * want))
        fail_msg("after %llu samples: rate %g, not %g", (unsigned long long)samples,
                 (double)sgd.rate, want);
    assert_true(sgd.momentum == optimizer->sgd.momentum);
    assert_true(sgd.weight_decay == optimizer->sgd.weight_decay);
    assert_true(sgd.nesterov == optimizer->sgd.nesterov);
}

static struct optimizer optimizer_of(enum schedule schedule)
{
    return (struct optimizer){
        .sgd = {.rate = 0.5f, .momentum = 0.9f, .weight_decay = 1e-4f, .nesterov = true},
        .schedule = schedule,
        .period_samples = 1000,
        .decay = 0.1f,
    };
}

static void a_constant_rate_stays(void **state)
{
    (void)state;
    struct optimizer optimizer = optimizer_of(CONSTANT);
    optimizer.period_samples = 0; /* a constant rate has no period */
    check_rate(&optimizer, 0, 0.5);
    check_rate(&optimizer, UINT64_MAX, 0.5);
}

static void a_stepped_rate_falls_once_a_period(void **state)
{
    (void)state;
    const struct optimizer optimizer = optimizer_of(STEP);
    check_rate(&optimizer, 0, 0.5);
    check_rate(&optimizer, 999, 0.5);
    check_rate(&optimizer, 1000, 0.05);
    check_rate(&optimizer, 1999, 0.05);
    check_rate(&optimizer, 3000, 0.0005);
}

static void a_rate_may_fall_in_a_straight_line(void **state)
{
    (void)state;
    const struct optimizer optimizer = optimizer_of(DOWNHILL);
    check_rate(&optimizer, 0, 0.5);
    check_rate(&optimizer, 500, 0.275);
    check_rate(&optimizer, 1000, 0.05);
    check_rate(&optimizer, UINT64_MAX, 0.05);
}

static void a_rate_rises_first_and_falls_behind_it(void **state)
{
    (void)state;
    struct optimizer optimizer = optimizer_of(COSINE);
    optimizer.warmup_samples = 200;
    check_rate(&optimizer, 0, 0.5 / 201);
    check_rate(&optimizer, 99, 0.5 * 100 / 201);
    check_rate(&optimizer, 200, 0.5);
    check_rate(&optimizer, 600, 0.275);
    check_rate(&optimizer, 1000, 0.05);
    optimizer.schedule = CONSTANT;
    check_rate(&optimizer, 99, 0.5 * 100 / 201);
    check_rate(&optimizer, 5000, 0.5);
}

static void a_cosine_rate_falls_over_the_period_and_stays(void **state)
{
    (void)state;
    const struct optimizer optimizer = optimizer_of(COSINE);
    check_rate(&optimizer, 0, 0.5);
    check_rate(&optimizer, 250, 0.05 + 0.45 * (1 + sqrt(0.5)) / 2);
    check_rate(&optimizer, 500, 0.275);
    check_rate(&optimizer, 1000, 0.05);
    check_rate(&optimizer, UINT64_MAX, 0.05);
}

static void an_inverse_root_rate_falls_without_an_end(void **state)
{
    (void)state;
    struct optimizer optimizer = optimizer_of(INVERSE_ROOT);
    check_rate(&optimizer, 0, 0.5);
    check_rate(&optimizer, 1000, 0.5 / sqrt(2));
    check_rate(&optimizer, 15000, 0.125);
    check_rate(&optimizer, 99000, 0.05);
    check_rate(&optimizer, UINT64_MAX, 0.05); /* the rate falls to a tenth at most */
    learners = 4; /* four nodes learn four samples while one node alone learns one */
    check_rate(&optimizer, 4000, 0.5 / sqrt(2));
    check_rate(&optimizer, 60000, 0.125);
    learners = 1;
    optimizer.decay = 0;
    check_rate(&optimizer, 9999000, 0.005);
    optimizer.warmup_samples = 2000; /* longer than the period */
    check_rate(&optimizer, 999, 0.5 * 1000 / 2001);
    check_rate(&optimizer, 2000, 0.5);
    check_rate(&optimizer, 3000, 0.5 / sqrt(2));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, gradient_begins, gradient_ends)
    const struct CMUnitTest tests[] = {
        TEST(dense_has_the_right_gradient),
        TEST(dense_after_dense_has_the_right_gradient),
        TEST(relu_has_the_right_gradient),
        TEST(sigmoid_has_the_right_gradient),
        TEST(tanh_has_the_right_gradient),
        TEST(conv_has_the_right_gradient),
        TEST(padded_conv_has_the_right_gradient),
        TEST(conv_after_conv_has_the_right_gradient),
        TEST(conv_over_the_whole_image_has_the_right_gradient),
        TEST(conv_with_a_stride_has_the_right_gradient),
        TEST(conv_in_groups_has_the_right_gradient),
        TEST(depthwise_conv_has_the_right_gradient),
        TEST(conv_without_biases_has_the_right_gradient),
        TEST(maxpool_has_the_right_gradient),
        TEST(maxpool_of_three_has_the_right_gradient),
        TEST(a_first_layer_without_weights_passes_its_input),
        TEST(a_first_maxpool_passes_its_input),
        TEST(activation_after_activation_has_the_right_gradient),
        TEST(activation_after_maxpool_has_the_right_gradient),
        TEST(a_deep_chain_has_the_right_gradient),
        TEST(predicted_numbers_have_the_right_gradient),
        TEST(an_activation_after_no_weights_is_not_left_out),
        TEST(a_batch_gives_the_mean_gradient_of_its_samples),
        TEST(ten_steps_give_the_losses_written_down),
        TEST(exclusive_or_is_learned),
        cmocka_unit_test(a_constant_rate_stays),
        cmocka_unit_test(a_stepped_rate_falls_once_a_period),
        cmocka_unit_test(a_rate_may_fall_in_a_straight_line),
        cmocka_unit_test(a_rate_rises_first_and_falls_behind_it),
        cmocka_unit_test(an_inverse_root_rate_falls_without_an_end),
        cmocka_unit_test(a_cosine_rate_falls_over_the_period_and_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
