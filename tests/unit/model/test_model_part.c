/* Equal gradients with less memory: a step in parts, logits of some samples at a time, and
 * activations in residuals computed again. Also dropout, whose mask must be equal in the backward
 * pass. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "support/model/gradient_story.h"

#define GPT                                                                                        \
    "embed 3 8, position 6, 3 * (residual(norm, attention 2), residual(norm, dense 16, gelu, "     \
    "dense 8)), norm, logits tied"
#define RESNET                                                                                     \
    "conv 4 3x3 pad 1 plain, batchnorm, relu, 2 * (residual(conv 4 3x3 pad 1 plain, batchnorm, "   \
    "relu, residual(conv 4 3x3 pad 1 plain, batchnorm)), relu), residual(conv 6 3x3 stride 2 pad " \
    "1 plain, batchnorm | conv 6 1x1 stride 2 plain), relu, avgpool, dense 3"

static const struct shape text = {1, 1, 1, 6}, image = {2, 6, 6, 0};
static float others[ROOM];

/* Trains on the batch with a model of the same layers and other options. Writes the gradients to
 * `others`. */
static struct score learn_otherwise(const struct model_use *use)
{
    struct model *other = NULL;
    struct arena arena;
    struct problem problem = {""};
    struct score score = {0};
    arena_init(&arena, 4096);
    if (model_new_for(&other, &arena, backend, model_line(model), model_input(model), CLASSES, use,
                      &problem) != OK)
        fail_msg("%s", problem.text);
    for (size_t i = 0; i < ROOM; i++)
        others[i] = NAN;
    model_learn(other, drawn, others, batch_x, batch_labels, BATCH, &score);
    struct score tested = {0}, want = {0};
    model_score(other, drawn, batch_x, batch_labels, BATCH, &tested);
    model_score(model, drawn, batch_x, batch_labels, BATCH, &want);
    assert_true(fabs(tested.loss - want.loss) <= 1e-6 * want.loss);
    assert_int_equal(tested.correct, want.correct);
    model_free(other);
    arena_release(&arena);
    return score;
}

static void check_same_gradients(double tolerance)
{
    for (size_t p = 0; p < model_parameters(model); p++) {
        const double error = fabs((double)others[p] - (double)gradients[p]);
        if (!(error <= tolerance * (1e-3 + fabs((double)gradients[p]))))
            fail_msg("gradient %zu is %g, not %g", p, (double)others[p], (double)gradients[p]);
    }
}

static void recomputed_insides_give_the_same_bits(void **state)
{
    (void)state;
    const struct model_use use = {.batch_max = BATCH, .recompute = true};
    const char *const lines[] = {GPT, RESNET, "residual(dense 9, tanh | dense 9), dense 3"};
    for (int i = 0; i < 3; i++) {
        struct score score = {0};
        build(lines[i], i == 0 ? text : image, CLASSES);
        model_learn(model, drawn, gradients, batch_x, batch_labels, BATCH, &score);
        const struct score again = learn_otherwise(&use);
        assert_memory_equal(&again, &score, sizeof score);
        assert_memory_equal(others, gradients, model_parameters(model) * sizeof *others);
        if (i < 2)
            model_free(model);
    }
}

static void recomputed_insides_take_less_memory(void **state)
{
    (void)state;
    const size_t kept = model_sample_bytes(GPT, text, CLASSES, false);
    const size_t computed = model_sample_bytes(GPT, text, CLASSES, true);
    assert_true(computed < kept * 2 / 3);
    build("dense 3", image, CLASSES); /* the teardown frees this model */
}

/* The model computes logits of one sample at a time, or of three samples and then of the fourth. */
static void logits_of_some_samples_at_a_time_give_the_same_gradients(void **state)
{
    (void)state;
    const char *const lines[] = {GPT, "embed 3 8, norm, logits"};
    const size_t floats[] = {1, 6 * CLASSES, 3 * 6 * CLASSES};
    for (int i = 0; i < 6; i++) {
        struct score score = {0};
        build(lines[i % 2], text, CLASSES);
        model_learn(model, drawn, gradients, batch_x, batch_labels, BATCH, &score);
        const struct model_use use = {.batch_max = BATCH, .logits_floats = floats[i / 2]};
        const struct score again = learn_otherwise(&use);
        assert_true(fabs(again.loss - score.loss) <= 1e-6 * score.loss);
        assert_int_equal(again.labels, score.labels);
        check_same_gradients(1e-4);
        if (i < 5)
            model_free(model);
    }
}

/* A batch of 4 is trained in parts of 3 and 1. */
static void the_gradients_of_parts_add_up_to_those_of_the_step(void **state)
{
    (void)state;
    static float part_gradients[ROOM];
    struct score score = {0}, of_parts = {0};
    build(GPT, text, CLASSES);
    model_learn(model, drawn, gradients, batch_x, batch_labels, BATCH, &score);
    memset(others, 0, sizeof others);
    for (int first = 0; first < BATCH; first += 3) {
        const struct model_part part = {.x = batch_x + first * 6,
                                        .labels = batch_labels + first * 6,
                                        .samples = first == 0 ? 3 : 1,
                                        .of = BATCH};
        model_learn_part(model, drawn, part_gradients, &part, &of_parts);
        for (size_t p = 0; p < model_parameters(model); p++)
            others[p] += part_gradients[p];
    }
    assert_true(fabs(of_parts.loss - score.loss) <= 1e-6 * score.loss);
    check_same_gradients(1e-4);
}

static const uint32_t draws[BATCH] = {1, 22, 333, 4444};

static double dropped_loss(float smoothing, float *into)
{
    struct score score = {0};
    const struct model_part part = {.x = batch_x,
                                    .labels = batch_labels,
                                    .samples = BATCH,
                                    .of = BATCH,
                                    .smoothing = smoothing,
                                    .draws = draws};
    model_learn_part(model, drawn, into, &part, &score);
    return score.loss / score.labels;
}

static void check_by_differences(float smoothing)
{
    double error = 0, power = 0;
    (void)dropped_loss(smoothing, gradients);
    for (size_t p = 0; p < model_parameters(model); p++) {
        const float before = drawn[p];
        drawn[p] = before + 0.01f;
        const double above = dropped_loss(smoothing, others), high = drawn[p];
        drawn[p] = before - 0.01f;
        const double gradient =
            (above - dropped_loss(smoothing, others)) / (high - (double)drawn[p]);
        drawn[p] = before;
        error += (gradients[p] - gradient) * (gradients[p] - gradient);
        power += gradient * gradient;
    }
    if (!(sqrt(error / power) <= 3e-3))
        fail_msg("off by %g", sqrt(error / power));
}

static void dropout_has_the_right_gradient(void **state)
{
    (void)state;
    const char *const lines[] = {
        "dense 12, tanh, dropout 0.5, dense 3",
        "dropout 0.2, dense 7, tanh, residual(dense 7, dropout 0.3), dense 3"};
    for (int i = 0; i < 2; i++) {
        build(lines[i], image, CLASSES);
        const double with = dropped_loss(0, gradients);
        assert_true(fabs(with - mean_loss()) > 1e-3);
        check_by_differences(0);
        if (i == 0)
            model_free(model);
    }
}

static void smoothed_labels_have_the_right_gradient(void **state)
{
    (void)state;
    build("dense 5, tanh, dense 3", image, CLASSES);
    const double without = dropped_loss(0, gradients);
    assert_true(fabs(without - mean_loss()) < 1e-6);
    assert_true(fabs(without - dropped_loss(0.3f, gradients)) > 1e-3);
    check_by_differences(0.3f);
}

/* An evaluation drops nothing: its score equals that of the same model without the dropout
 * layer. */
static void judging_drops_nothing(void **state)
{
    (void)state;
    struct score with = {0}, without = {0};
    build("dense 9, tanh, dropout 0.9, dense 3", image, CLASSES);
    model_score(model, drawn, batch_x, batch_labels, BATCH, &with);
    model_free(model);
    build("dense 9, tanh, dense 3", image, CLASSES);
    model_score(model, drawn, batch_x, batch_labels, BATCH, &without);
    assert_memory_equal(&with, &without, sizeof with);
}

/* Label smoothing does not change an evaluation, so evaluations with different settings are
 * comparable. */
static void judging_goes_by_the_label_alone(void **state)
{
    (void)state;
    struct score smoothed = {0}, plain = {0};
    build("dense 5, tanh, dense 3", image, CLASSES);
    struct model_part part = {
        .x = batch_x, .labels = batch_labels, .samples = BATCH, .of = BATCH, .smoothing = 0.5f};
    model_score_part(model, drawn, &part, &smoothed);
    model_score(model, drawn, batch_x, batch_labels, BATCH, &plain);
    assert_memory_equal(&smoothed, &plain, sizeof plain);
}

static void a_wrong_dropout_is_refused(void **state)
{
    (void)state;
    const char *const lines[] = {"dropout, dense 3",      "dropout 0, dense 3",
                                 "dropout 1, dense 3",    "dropout nan, dense 3",
                                 "dropout 0.5x, dense 3", "dropout -0.1, dense 3"};
    struct arena arena;
    arena_init(&arena, 4096);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        struct problem problem = {""};
        struct model *none = NULL;
        assert_int_equal(model_new(&none, &arena, NULL, lines[i], image, CLASSES, BATCH, &problem),
                         MALFORMED);
        assert_non_null(strstr(problem.text, "for example 'dropout 0.1'"));
    }
    arena_release(&arena);
    build("dense 3", image, CLASSES); /* the teardown frees this model */
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, gradient_begins, gradient_ends)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(recomputed_insides_give_the_same_bits),
        TEST(recomputed_insides_take_less_memory),
        TEST(logits_of_some_samples_at_a_time_give_the_same_gradients),
        TEST(the_gradients_of_parts_add_up_to_those_of_the_step),
        TEST(dropout_has_the_right_gradient),
        TEST(smoothed_labels_have_the_right_gradient),
        TEST(judging_drops_nothing),
        TEST(judging_goes_by_the_label_alone),
        TEST(a_wrong_dropout_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
