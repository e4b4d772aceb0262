/* Regression on every device: a learner trains on unchanged floats, predicts numbers and finds a
 * linear function. The evaluation reports its error. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "support/model/each_device.h"
#include "training/evaluator.h"
#include "training/learner.h"

#define COUNT   400
#define INPUTS  5
#define OUTPUTS 2

static float numbers[COUNT][INPUTS], targets[COUNT][OUTPUTS];
static const struct dataset data = {.numbers = numbers[0],
                                    .targets = targets[0],
                                    .count = COUNT,
                                    .shape = {1, 1, INPUTS, 0},
                                    .classes = OUTPUTS,
                                    .mean = 0,
                                    .scale = 1};
static struct arena arena;
static struct model *model;

/* Makes samples with y0 = 2 x0 - 3 x1 + 1 and y1 = x2 / 2 - 4. */
static int begin(void **state)
{
    (void)state;
    struct problem problem;
    struct rng rng = rng_new(9, 0);
    for (size_t i = 0; i < COUNT; i++) {
        float *const x = numbers[i];
        for (size_t k = 0; k < INPUTS; k++)
            x[k] = (float)(2 * rng_uniform(&rng) - 1);
        targets[i][0] = 2 * x[0] - 3 * x[1] + 1;
        targets[i][1] = x[2] / 2 - 4;
    }
    arena_init(&arena, (size_t)1 << 20);
    backend = open_device();
    assert_int_equal(
        model_new(&model, &arena, backend, "dense 2", data.shape, OUTPUTS, 50, &problem), OK);
    return 0;
}

static int end(void **state)
{
    (void)state;
    model_free(model);
    backend->close(backend);
    arena_release(&arena);
    return 0;
}

static double variance_of(size_t from, size_t to)
{
    double sum = 0;
    for (size_t k = 0; k < OUTPUTS; k++) {
        double mean = 0, squares = 0;
        for (size_t i = from; i < to; i++)
            mean += (double)targets[i][k] / (double)(to - from);
        for (size_t i = from; i < to; i++)
            squares += pow((double)targets[i][k] - mean, 2);
        sum += squares / (double)(to - from);
    }
    return sum / OUTPUTS;
}

/* Zero weights predict 0, so the expected error is the mean of the squares. */
static void the_error_is_the_mean_of_the_squares(void **state)
{
    (void)state;
    static const float zeros[(INPUTS + 1) * OUTPUTS];
    double squares = 0;
    for (size_t i = 0; i < COUNT; i++)
        squares += pow((double)targets[i][0], 2) + pow((double)targets[i][1], 2);
    const double error = squares / (COUNT * OUTPUTS), variance = variance_of(0, COUNT);
    struct evaluator *evaluator = evaluator_new(&arena, backend, model, &data);
    const struct evaluation mark = evaluator_run(evaluator, zeros, 0, COUNT);
    assert_true(mark.is_regression && mark.samples == COUNT && mark.correct == 0);
    assert_true(fabs(mark.loss - error) < 1e-5 * error);
    assert_true(fabs(mark.variance - variance) < 1e-6 * variance);
    assert_true(fabs(evaluation_r2(&mark) - (1 - error / variance)) < 1e-5);
    assert_true(evaluation_r2(&mark) < 0);
    assert_true(evaluation_accuracy(&mark) == 0); /* worse than predicting the mean */
    evaluator_free(evaluator);
}

static void a_line_is_found(void **state)
{
    (void)state;
    const struct learner_options options = {.optimizer = {.sgd = {.rate = 0.1f, .momentum = 0.9f}},
                                            .batch = 20,
                                            .model_seed = 3,
                                            .data_seed = 4,
                                            .test_to = COUNT,
                                            .density_max = (INPUTS + 1) * OUTPUTS};
    struct learner *learner = learner_new(&arena, backend, model, &data, NULL, &options);
    float weights[(INPUTS + 1) * OUTPUTS];
    for (int step = 0; step < 400; step++)
        (void)learner_step(learner);
    const double losses = learner_losses(learner);
    learner_read_weights(learner, weights);
    static const float want[] = {2, -3, 0, 0, 0, 0, 0, 0.5f, 0, 0, /* biases */ 1, -4};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        assert_true(fabsf(weights[i] - want[i]) < 1e-3f);
    assert_true(losses > 0 && losses < 400 * 20);
    learner_free(learner);
    struct evaluator *evaluator = evaluator_new(&arena, backend, model, &data);
    const struct evaluation mark = evaluator_run(evaluator, weights, 0, COUNT);
    assert_true(mark.loss < 1e-5);
    assert_true(evaluation_accuracy(&mark) > 0.9999 && evaluation_accuracy(&mark) <= 1);
    evaluator_free(evaluator);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(the_error_is_the_mean_of_the_squares),
        TEST(a_line_is_found),
    };
    RUN_ON_EACH_DEVICE(tests, NULL, NULL);
}
