/* Training of residual networks' layers through model.h: gradients compared with finite
 * differences, and the running statistics of batch norms. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/model/gradient_story.h"

#define GRADIENTS(name, line, ...)                                                                 \
    static void name(void **state)                                                                 \
    {                                                                                              \
        (void)state;                                                                               \
        check_gradients(line, (struct shape)__VA_ARGS__);                                          \
    }

GRADIENTS(avgpool_has_the_right_gradient, "conv 4 3x3 pad 1, tanh, avgpool, dense 3", {2, 5, 6, 0})
GRADIENTS(a_first_avgpool_passes_its_input, "avgpool, dense 5, tanh, dense 3", {3, 4, 4, 0})
GRADIENTS(groupnorm_has_the_right_gradient, "conv 4 3x3 pad 1, groupnorm 2, tanh, dense 3",
          {1, 4, 5, 0})
GRADIENTS(batchnorm_has_the_right_gradient, "conv 4 3x3 pad 1 plain, batchnorm, tanh, dense 3",
          {1, 4, 5, 0})
GRADIENTS(a_first_batchnorm_has_the_right_gradient, "batchnorm, conv 3 3x3, tanh, dense 3",
          {2, 4, 5, 0})
GRADIENTS(batchnorm_after_dense_has_the_right_gradient,
          "dense 6 plain, batchnorm, sigmoid, dense 3", {1, 1, 7, 0})
GRADIENTS(
    a_residual_of_batchnorms_has_the_right_gradient,
    "conv 3 3x3 pad 1 plain, batchnorm, tanh, residual(conv 3 3x3 pad 1 plain, batchnorm, tanh, "
    "conv 3 3x3 pad 1 plain, batchnorm), tanh, avgpool, dense 3",
    {1, 4, 4, 0})
GRADIENTS(a_shortcut_with_batchnorm_has_the_right_gradient,
          "conv 2 3x3 pad 1, tanh, residual(conv 3 3x3 stride 2 pad 1 plain, batchnorm | "
          "conv 3 1x1 stride 2 plain, batchnorm), tanh, avgpool, dense 3",
          {1, 4, 4, 0})

static size_t offset_of(const char *name)
{
    for (int i = 0; i < model_tensors(model); i++) {
        const struct tensor tensor = model_tensor(model, i);
        if (strcmp(tensor.name, name) == 0)
            return tensor.offset;
    }
    fail_msg("there is no tensor '%s'", name);
    return 0;
}

static void statistics_come_last_and_are_not_trained(void **state)
{
    (void)state;
    build("batchnorm, dense 4, batchnorm, relu, dense 3", (struct shape){2, 1, 1, 0}, CLASSES);
    assert_int_equal(model_parameters(model) - model_trained(model), 2 * 2 + 2 * 4);
    assert_int_equal(offset_of("0.batchnorm.running_mean"), model_trained(model));
    assert_int_equal(offset_of("0.batchnorm.running_var"), model_trained(model) + 2);
    assert_int_equal(offset_of("2.batchnorm.running_mean"), model_trained(model) + 4);
    assert_int_equal(model_decayed(model), 2 * 4 + 4 * 3);
}

/* The gradient of a running statistic is its distance from the measured value. So a step with rate
 * 1 sets the statistic to that value. */
static void statistics_follow_what_is_measured(void **state)
{
    (void)state;
    struct score score = {0};
    build("batchnorm, dense 3", (struct shape){1, 1, 1, 0}, CLASSES);
    const size_t mean = offset_of("0.batchnorm.running_mean");
    const size_t variance = offset_of("0.batchnorm.running_var");
    const float batch[BATCH] = {1, 3, 5, 7};
    memcpy(batch_x, batch, sizeof batch);
    model_learn(model, drawn, gradients, batch_x, batch_labels, BATCH, &score);
    assert_true(fabsf(drawn[mean] - gradients[mean] - 4) <= 1e-5f);
    assert_true(fabsf(drawn[variance] - gradients[variance] - 20 / 3.0f) <= 1e-4f);
}

/* An evaluation uses the running statistics, so other samples of the batch do not matter. */
static void judging_does_not_depend_on_the_batch(void **state)
{
    (void)state;
    build("conv 3 3x3 pad 1, batchnorm, tanh, avgpool, dense 3", (struct shape){1, 5, 5, 0},
          CLASSES);
    float alone[CLASSES], *variance = drawn + offset_of("1.batchnorm.running_var");
    variance[0] = 2;
    variance[1] = 1;
    variance[2] = -0.5f; /* a negative variance counts as 0 */
    memcpy(alone, model_forward(model, drawn, batch_x, 1), sizeof alone);
    const float *logits = model_forward(model, drawn, batch_x, BATCH);
    for (int c = 0; c < CLASSES; c++)
        assert_true(isfinite(alone[c]) && fabsf(alone[c] - logits[c]) <= 1e-5f);
    variance[0] = 50;
    assert_true(fabsf(model_forward(model, drawn, batch_x, 1)[0] - alone[0]) > 1e-4f);
}

/* Weights before a batch or group norm are initialized by He's rule, because a relu usually follows
 * such a norm. */
static void weights_before_a_norm_begin_as_before_a_relu(void **state)
{
    (void)state;
    static float with[ROOM];
    build("conv 8 3x3, relu, dense 3", (struct shape){4, 5, 5, 0}, CLASSES);
    model_init(model, 3, drawn);
    model_free(model);
    memcpy(with, drawn, sizeof with);
    const char *const lines[] = {"conv 8 3x3, batchnorm, relu, dense 3",
                                 "conv 8 3x3, groupnorm 2, dense 3"};
    for (int i = 0; i < 2; i++) {
        build(lines[i], (struct shape){4, 5, 5, 0}, CLASSES);
        model_init(model, 3, drawn);
        assert_memory_equal(with, drawn, (size_t)8 * 4 * 9 * sizeof *with);
        if (i == 0)
            model_free(model);
    }
}

static void check_refused(const char *line, struct shape in, const char *want)
{
    struct problem problem = {""};
    struct arena arena;
    struct model *none = NULL;
    arena_init(&arena, 4096);
    assert_int_equal(model_new(&none, &arena, NULL, line, in, CLASSES, BATCH, &problem), MALFORMED);
    if (!strstr(problem.text, want))
        fail_msg("'%s' is refused with \"%s\", not with \"%s\"", line, problem.text, want);
    arena_release(&arena);
}

static void wrong_words_are_refused_with_what_would_be_right(void **state)
{
    (void)state;
    const struct shape image = {1, 6, 6, 0}, sequence = {1, 1, 1, 8};
    check_refused("batchnorm 3, dense 3", image, "write it as 'batchnorm'");
    check_refused("groupnorm, dense 3", image, "write it as 'groupnorm G'");
    check_refused("groupnorm 0, dense 3", image, "write it as 'groupnorm G'");
    check_refused("conv 6 3x3, groupnorm 4, dense 3", image, "cannot be divided into 4 groups");
    check_refused("avgpool 2, dense 3", image, "write it as 'avgpool'");
    check_refused("embed 3 4, batchnorm, logits", sequence, "here comes a sequence");
    check_refused("embed 3 4, avgpool, logits", sequence, "here comes a sequence");
    build("dense 3", image, CLASSES); /* the teardown frees this model */
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, gradient_begins, gradient_ends)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(avgpool_has_the_right_gradient),
        TEST(a_first_avgpool_passes_its_input),
        TEST(groupnorm_has_the_right_gradient),
        TEST(batchnorm_has_the_right_gradient),
        TEST(a_first_batchnorm_has_the_right_gradient),
        TEST(batchnorm_after_dense_has_the_right_gradient),
        TEST(a_residual_of_batchnorms_has_the_right_gradient),
        TEST(a_shortcut_with_batchnorm_has_the_right_gradient),
        TEST(statistics_come_last_and_are_not_trained),
        TEST(statistics_follow_what_is_measured),
        TEST(judging_does_not_depend_on_the_batch),
        TEST(weights_before_a_norm_begin_as_before_a_relu),
        TEST(wrong_words_are_refused_with_what_would_be_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
