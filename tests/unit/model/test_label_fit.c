/* Label fit: a base that has learned the samples, compared with their labels and with others. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/model/each_device.h"
#include "training/label_fit.h"
#include "training/learner.h"
#include "training/shuffle_labels.h"

#define CLASSES 10
#define STEPS   400

static struct arena arena;
static struct model *model;
static struct learner *learner;
static struct dataset train;

static void make_learner(const struct dataset *test)
{
    struct problem problem;
    assert_int_equal(model_new(&model, &arena, backend, "dense 32, relu, dense 10", train.shape,
                               train.classes, 64, &problem),
                     OK);
    const struct learner_options options = {
        .optimizer = {.sgd = {.rate = 0.05f, .momentum = 0.9f}},
        .batch = 32,
        .model_seed = 3,
        .data_seed = 4,
        .density_max = (uint32_t)model_parameters(model),
    };
    learner = learner_new(&arena, backend, model, &train, test, &options);
}

static int begin(void **state)
{
    const struct dataset_options data = {
        .source = DATASET_GENERATED, .train_count = 300, .shards = 1};
    struct problem problem;
    (void)state;
    arena_init(&arena, (size_t)16 << 20);
    assert_int_equal(dataset_load_train(&train, &data, &problem), OK);
    return 0;
}

static int end(void **state)
{
    (void)state;
    dataset_free(&train);
    learner_free(learner);
    model_free(model);
    arena_release(&arena);
    return 0;
}

/* Learns the samples, and publishes until the base equals the weights. */
static void learn(void)
{
    const struct publish_terms terms = {
        .budget_bytes = 1u << 20, .share = 1, .gain = 1, .swarm_samples = 1};
    for (int i = 0; i < STEPS; i++)
        learner_step(learner);
    for (int i = 0; i < 4; i++)
        (void)learner_publish(learner, &terms);
}

static void a_base_that_has_learned_agrees_with_the_labels(void **state)
{
    (void)state;
    make_learner(&train);
    learn();
    const struct label_fit fit = label_fit_of(learner);
    assert_int_equal(fit.samples, LABEL_FIT_SAMPLES);
    assert_true(fit.all.agreement > 0.9 && fit.all.agreement <= 1);
    assert_true(fit.all.confidence > 0.7 && fit.all.confidence <= 1);
    assert_true(fit.all.variety > 0.8 && fit.all.variety < 1);
    assert_true(fit.known.agreement >= fit.all.agreement);
    assert_int_equal(fit.moved_count, 0);
}

static void shifted_labels_disagree_and_are_named(void **state)
{
    (void)state;
    make_learner(&train);
    learn();
    learner_shift_labels(learner);
    const struct label_fit fit = label_fit_of(learner);
    assert_true(fit.all.agreement < 0.1);
    assert_true(fit.known.agreement < 0.1);
    assert_true(fit.all.confidence > 0.7);
    assert_int_equal(fit.moved_count, LABEL_FIT_MOVED);
    for (int i = 0; i < LABEL_FIT_MOVED; i++) {
        assert_int_equal(fit.moved[i].label, i);
        assert_int_equal(fit.moved[i].prediction, (i + CLASSES - 1) % CLASSES);
    }
}

static void a_base_that_has_not_learned_is_not_confident(void **state)
{
    (void)state;
    make_learner(&train);
    const struct label_fit fit = label_fit_of(learner);
    assert_true(fit.all.confidence < 0.5);
}

static void a_comparison_changes_neither_base_nor_weights(void **state)
{
    (void)state;
    make_learner(&train);
    learn();
    const size_t bytes = model_parameters(model) * sizeof(float);
    float *before = malloc(bytes), *after = malloc(bytes);
    learner_read_weights(learner, before);
    const uint64_t digest = learner_digest(learner);
    (void)label_fit_of(learner);
    learner_read_weights(learner, after);
    assert_memory_equal(before, after, bytes);
    assert_int_equal(learner_digest(learner), digest);
    free(before);
    free(after);
}

static void nothing_is_compared_without_an_evaluator(void **state)
{
    (void)state;
    make_learner(NULL);
    assert_int_equal(label_fit_of(learner).samples, 0);
}

static void a_single_class_is_predicted_as_labelled_among_the_known(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < train.count; i++)
        train.labels[i] = 4;
    make_learner(&train);
    const struct label_fit fit = label_fit_of(learner);
    assert_true(fit.known.agreement == 1);
    assert_true(fit.known.variety == 0);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        CASE(a_base_that_has_learned_agrees_with_the_labels),
        CASE(shifted_labels_disagree_and_are_named),
        CASE(a_base_that_has_not_learned_is_not_confident),
        CASE(a_comparison_changes_neither_base_nor_weights),
        CASE(nothing_is_compared_without_an_evaluator),
        CASE(a_single_class_is_predicted_as_labelled_among_the_known),
    };
    RUN_ON_EACH_DEVICE(tests, device_opens, device_closes);
}
