/* A learner's vitals: norms, compared with weights read from outside, and a dead layer. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/model/each_device.h"
#include "training/learner.h"
#include "training/vitals.h"

#define LINE  "dense 12, relu, dense 8, relu, dense 10"
#define UNITS (12 + 8)

static struct arena arena;
static struct model *model;
static struct learner *learner;

static int begin_with(const struct optimizer *optimizer)
{
    const struct dataset_options data = {
        .source = DATASET_GENERATED, .train_count = 64, .shards = 1};
    struct dataset train;
    struct problem problem;
    arena_init(&arena, (size_t)16 << 20);
    assert_int_equal(dataset_load_train(&train, &data, &problem), OK);
    assert_int_equal(
        model_new(&model, &arena, backend, LINE, train.shape, train.classes, 64, &problem), OK);
    const struct learner_options options = {
        .optimizer = *optimizer,
        .batch = 32,
        .model_seed = 3,
        .data_seed = 4,
        .density_max = (uint32_t)model_parameters(model),
    };
    learner = learner_new(&arena, backend, model, &train, NULL, &options);
    dataset_free(&train);
    return 0;
}

static int begin(void **state)
{
    (void)state;
    return begin_with(&(struct optimizer){.sgd = {.rate = 0.01f, .momentum = 0.9f}});
}

static int begin_lamb(void **state)
{
    (void)state;
    return begin_with(
        &(struct optimizer){.kind = OPTIMIZER_LAMB,
                            .sgd = {.rate = 0.01f, .momentum = 0.5f, .weight_decay = 0.01f},
                            .beta2 = 0.999f});
}

static int end(void **state)
{
    (void)state;
    learner_free(learner);
    model_free(model);
    arena_release(&arena);
    return 0;
}

static float *weights(void)
{
    float *host = malloc(model_parameters(model) * sizeof *host);
    assert_non_null(host);
    learner_read_weights(learner, host);
    return host;
}

static void a_learner_that_learns_has_a_gradient_in_its_first_layer(void **state)
{
    struct vitals vitals;
    double sum = 0;
    (void)state;
    (void)learner_step(learner);
    vitals_of(learner, &vitals);
    float *host = weights();
    for (size_t i = 0; i < model_parameters(model); i++)
        sum += (double)host[i] * (double)host[i];
    free(host);
    assert_true(fabs(vitals.weight_norm - sqrt(sum)) < 1e-4);
    assert_true(vitals.input_norm > 0 && vitals.input_norm < vitals.gradient_norm);
    assert_int_equal(vitals.units, UNITS);
    assert_true(vitals.idle < UNITS / 2);
}

/* Silences all hidden units, so layers before the last one get no gradient. */
static void silence(void)
{
    float *host = weights();
    for (int i = 0; i < model_tensors(model); i++) {
        const struct tensor tensor = model_tensor(model, i);
        for (size_t k = 0; k < tensor_entries(&tensor) && tensor.rank == 1 && !tensor.is_output;
             k++)
            host[tensor.offset + k] = -1000;
    }
    learner_write_weights(learner, host);
    free(host);
}

static void a_silent_layer_lets_no_gradient_through(void **state)
{
    struct vitals vitals;
    (void)state;
    silence();
    (void)learner_step(learner);
    vitals_of(learner, &vitals);
    assert_true(vitals.input_norm == 0);
    assert_true(vitals.gradient_norm > 0); /* only the last biases have gradients */
    assert_int_equal(vitals.idle, UNITS);
}

/* The first moment is 0 once the last gradients no longer count: 0.5^150 of a gradient is less than
 * the least normal number. */
static void weight_decay_of_lamb_is_no_gradient(void **state)
{
    struct vitals vitals;
    (void)state;
    (void)learner_step(learner);
    vitals_of(learner, &vitals);
    assert_true(vitals.input_norm > 0 && vitals.input_norm < vitals.gradient_norm);
    silence();
    for (int i = 0; i < 150; i++)
        (void)learner_step(learner);
    vitals_of(learner, &vitals);
    assert_true(vitals.input_norm == 0);
    assert_true(vitals.gradient_norm > 0);
    assert_int_equal(vitals.idle, UNITS);
}

static void a_rate_may_be_scaled(void **state)
{
    (void)state;
    float *before = weights();
    learner_scale_rate(learner, 1e-9);
    (void)learner_step(learner);
    float *slow = weights();
    learner_scale_rate(learner, 1);
    (void)learner_step(learner);
    float *fast = weights();
    double crept = 0, went = 0;
    for (size_t i = 0; i < model_parameters(model); i++) {
        crept = fmax(crept, fabs((double)slow[i] - (double)before[i]));
        went = fmax(went, fabs((double)fast[i] - (double)slow[i]));
    }
    assert_true(crept < 1e-6 && went > 1e-4);
    free(before);
    free(slow);
    free(fast);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(a_learner_that_learns_has_a_gradient_in_its_first_layer),
        TEST(a_silent_layer_lets_no_gradient_through),
        cmocka_unit_test_setup_teardown(weight_decay_of_lamb_is_no_gradient, begin_lamb, end),
        TEST(a_rate_may_be_scaled),
    };
    RUN_ON_EACH_DEVICE(tests, device_opens, device_closes);
}
