/* Learners on data: exchanging updates helps both learners, and each epoch drops other numbers. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "support/model/each_device.h"
#include "training/learner.h"

static struct arena arena;

static int begin(void **state)
{
    (void)state;
    arena_init(&arena, (size_t)64 << 20);
    return 0;
}

static int end(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

static struct learner *learner_on(const char *line, struct model **model,
                                  const struct dataset *train, const struct dataset *test,
                                  uint64_t node, float rate)
{
    struct problem problem;
    assert_int_equal(
        model_new(model, &arena, backend, line, train->shape, train->classes, 64, &problem), OK);
    const struct learner_options options = {
        .optimizer = {.sgd = {.rate = rate, .momentum = 0.9f}},
        .batch = 16,
        .model_seed = 3,
        .data_seed = 4,
        .data_node = node,
        .density_max = (uint32_t)model_parameters(*model),
        .test_to = test ? test->count : 0,
    };
    return learner_new(&arena, backend, *model, train, test, &options);
}

static void a_learner_alone_learns_through_its_own_publications(void **state)
{
    (void)state;
    const struct dataset_options options = {.source = DATASET_XOR, .shards = 1};
    struct dataset train, test;
    struct problem problem;
    assert_int_equal(dataset_load_train(&train, &options, &problem), OK);
    assert_int_equal(dataset_load_test(&test, &options, &problem), OK);
    test.mean = train.mean;
    test.scale = train.scale;
    struct model *model;
    struct learner *learner = learner_on(model_preset("xor"), &model, &train, &test, 0, 0.1f);
    const struct publish_terms terms = {.budget_bytes = 400, .share = 1, .gain = 1};
    const double loss_before = learner_evaluate(learner, true).loss;
    uint32_t published = 0;
    for (int round = 0; round < 200; round++) {
        for (int step = 0; step < 5; step++)
            (void)learner_step(learner);
        published += learner_publish(learner, &terms)->count > 0;
    }
    assert_true(published > 100);
    const struct evaluation after = learner_evaluate(learner, true);
    assert_int_equal(after.correct, 4);
    assert_true(after.loss < loss_before / 10);
    assert_int_equal(learner_samples(learner), 200 * 5 * 16);
    learner_free(learner);
    model_free(model);
    dataset_free(&train);
    dataset_free(&test);
}

static void a_step_in_two_halves_is_the_step_and_follows_the_gradient_it_is_given(void **state)
{
    (void)state;
    const struct dataset_options options = {.source = DATASET_XOR, .shards = 1};
    struct dataset train;
    struct problem problem;
    struct model *model[3];
    struct learner *learner[3];
    float gradient[64], start[64], weights[3][64];
    assert_int_equal(dataset_load_train(&train, &options, &problem), OK);
    for (int i = 0; i < 3; i++)
        learner[i] = learner_on(model_preset("xor"), &model[i], &train, NULL, 0, 0.1f);
    const size_t parameters = learner_parameters(learner[0]);
    assert_true(parameters <= 64);
    learner_read_weights(learner[2], start);
    for (int step = 0; step < 20; step++) {
        (void)learner_step(learner[0]);
        learner_gradient(learner[1], gradient);
        assert_int_equal(learner_descend(learner[1], gradient), 16);
        learner_gradient(learner[2], gradient);
        memset(gradient, 0, sizeof gradient);
        (void)learner_descend(learner[2], gradient);
    }
    for (int i = 0; i < 3; i++)
        learner_read_weights(learner[i], weights[i]);
    assert_memory_equal(weights[0], weights[1], parameters * sizeof(float));
    assert_int_equal(learner_samples(learner[0]), learner_samples(learner[1]));
    assert_memory_equal(weights[2], start, parameters * sizeof(float));
    assert_memory_not_equal(weights[0], start, parameters * sizeof(float));
    for (int i = 0; i < 3; i++) {
        learner_free(learner[i]);
        model_free(model[i]);
    }
    dataset_free(&train);
}

/* Momentum, decay, clipping and the optimizer's kind do not affect learner_descend_plainly. */
static void a_plain_second_half_moves_weights_by_the_rate_alone(void **state)
{
    (void)state;
    const struct dataset_options options = {.source = DATASET_XOR, .shards = 1};
    struct dataset train;
    struct problem problem;
    assert_int_equal(dataset_load_train(&train, &options, &problem), OK);
    for (int kind = OPTIMIZER_SGD; kind < OPTIMIZER_AUTO; kind++) {
        struct model *model;
        float gradient[64], before[64], after[64];
        assert_int_equal(model_new(&model, &arena, backend, model_preset("xor"), train.shape,
                                   train.classes, 16, &problem),
                         OK);
        const size_t parameters = model_parameters(model);
        const struct learner_options learning = {
            .optimizer = {.kind = (enum optimizer_kind)kind,
                          .sgd = {.rate = 0.25f, .momentum = 0.5f, .weight_decay = 0.5f},
                          .beta2 = 0.5f,
                          .clip = 0.01f,
                          .schedule = STEP,
                          .decay = 0.5f,
                          .period_samples = 16},
            .batch = 16,
            .density_max = (uint32_t)parameters};
        struct learner *learner = learner_new(&arena, backend, model, &train, NULL, &learning);
        for (int step = 0; step < 3; step++) {
            learner_read_weights(learner, before);
            learner_gradient(learner, gradient);
            for (size_t c = 0; c < parameters; c++)
                gradient[c] = 1 + (float)c;
            assert_int_equal(learner_descend_plainly(learner, gradient), 16);
            learner_read_weights(learner, after);
            for (size_t c = 0; c < parameters; c++)
                assert_true(fabsf(before[c] - after[c] - ldexpf(gradient[c], -2 - step)) < 1e-5f);
        }
        learner_free(learner);
        model_free(model);
    }
    dataset_free(&train);
}

static void the_optimizer_is_as_at_first(const struct learner *learner)
{
    struct learner_state state;
    const size_t parameters = learner_parameters(learner);
    const uint32_t moments = learner_moments(learner);
    void *memory = malloc(learner_state_bytes(parameters, moments));
    assert_non_null(memory);
    assert_true(moments > 0);
    learner_state_init(&state, memory, parameters, moments);
    learner_save(learner, &state);
    assert_int_equal(state.steps, 0);
    for (uint32_t i = 0; i < moments; i++)
        for (size_t c = 0; c < parameters; c++)
            assert_true(state.moment[i][c] == 0);
    free(memory);
}

static void a_learner_that_diverged_publishes_nothing_and_resets_to_the_base(void **state)
{
    (void)state;
    const struct dataset_options options = {.source = DATASET_XOR, .shards = 1};
    const struct publish_terms terms = {.budget_bytes = 400, .share = 1, .gain = 1};
    struct dataset train;
    struct problem problem;
    struct model *model;
    float weights[64], base[64];
    assert_int_equal(dataset_load_train(&train, &options, &problem), OK);
    struct learner *learner = learner_on(model_preset("xor"), &model, &train, NULL, 0, 0.1f);
    assert_true(learner_parameters(learner) <= 64);
    for (int step = 0; step < 20; step++)
        (void)learner_step(learner);
    assert_true(learner_publish(learner, &terms)->count > 0);
    assert_int_equal(learner_resets(learner)->count, 0);
    const uint64_t digest = learner_digest(learner);
    const struct tensor lost = model_tensor(model, 1), other = model_tensor(model, 2);
    learner_read_weights(learner, weights);
    weights[lost.offset + 1] = (float)NAN;
    weights[other.offset] = (float)INFINITY;
    learner_write_weights(learner, weights);
    assert_int_equal(learner_publish(learner, &terms)->count, 0);
    assert_int_equal(learner_resets(learner)->count, 1);
    assert_string_equal(learner_resets(learner)->tensor,
                        lost.offset < other.offset ? lost.name : other.name);
    assert_int_equal(learner_digest(learner), digest);
    learner_read_weights(learner, weights);
    learner_read_base(learner, base);
    assert_memory_equal(weights, base, learner_parameters(learner) * sizeof *base);
    the_optimizer_is_as_at_first(learner);
    for (int step = 0; step < 20; step++)
        (void)learner_step(learner);
    assert_true(isfinite(learner_losses(learner)));
    assert_true(learner_publish(learner, &terms)->count > 0);
    assert_int_equal(learner_resets(learner)->count, 1);
    learner_free(learner);
    model_free(model);
    dataset_free(&train);
}

/* Trains two learners with half of the glyphs each. Sets how many test samples each classifies
 * correctly, and returns how many both do. */
static uint32_t train_two(bool exchange, uint32_t correct[2])
{
    struct learner *learner[2];
    struct model *model[2];
    struct dataset_options options = {
        .source = DATASET_GENERATED, .seed = 1, .train_count = 600, .test_count = 500, .shards = 2};
    for (uint32_t i = 0; i < 2; i++) {
        struct dataset train, test;
        struct problem problem;
        options.shard = i;
        assert_int_equal(dataset_load_train(&train, &options, &problem), OK);
        assert_int_equal(dataset_load_test(&test, &options, &problem), OK);
        test.mean = train.mean;
        test.scale = train.scale;
        learner[i] = learner_on("dense 24, relu, dense 10", &model[i], &train, &test, i, 0.02f);
        dataset_free(&train);
        dataset_free(&test);
    }
    const struct publish_terms terms = {
        .budget_bytes = 4000, .share = exchange ? 0.5 : 1, .gain = 1, .beta = exchange ? 0.3 : 0};
    for (int round = 0; round < 60; round++) {
        const struct update *update[2];
        for (int i = 0; i < 2; i++) {
            for (int step = 0; step < 10; step++)
                (void)learner_step(learner[i]);
            update[i] = learner_publish(learner[i], &terms);
        }
        for (int i = 0; i < 2 && exchange; i++)
            learner_apply(learner[i], update[1 - i], (float)terms.beta);
    }
    if (exchange)
        assert_int_equal(learner_digest(learner[0]), learner_digest(learner[1]));
    for (int i = 0; i < 2; i++) {
        correct[i] = learner_evaluate(learner[i], true).correct;
        learner_free(learner[i]);
        model_free(model[i]);
    }
    return correct[0] + correct[1];
}

static void two_learners_with_half_the_data_learn_from_each_other(void **state)
{
    (void)state;
    uint32_t alone[2], together[2];
    (void)train_two(false, alone);
    (void)train_two(true, together);
    print_message("of 500: alone %u and %u, together %u\n", alone[0], alone[1], together[0]);
    assert_int_equal(together[0], together[1]);
    assert_true(together[0] > alone[0] + 10);
    assert_true(together[0] > alone[1] + 10);
}

/* The second learner has published the updates of the trial, but the first has not applied them. */
static void a_trial_scores_the_base_with_updates_and_changes_nothing(void **state)
{
    (void)state;
    const struct dataset_options options = {.source = DATASET_XOR, .shards = 1};
    struct dataset train;
    struct problem problem;
    struct model *model[2];
    struct learner *learner[2];
    struct update updates[2];
    assert_int_equal(dataset_load_train(&train, &options, &problem), OK);
    for (int i = 0; i < 2; i++)
        learner[i] = learner_on(model_preset("xor"), &model[i], &train, &train, 0, 0.1f);
    const struct publish_terms terms = {.budget_bytes = 400, .share = 1, .gain = 1};
    static uint32_t index[2][100];
    static int8_t level[2][100];
    for (int u = 0; u < 2; u++) {
        for (int step = 0; step < 300; step++)
            (void)learner_step(learner[1]);
        updates[u] = *learner_publish(learner[1], &terms);
        assert_in_range(updates[u].count, 1, 100);
        updates[u].index = memcpy(index[u], updates[u].index, updates[u].count * sizeof **index);
        updates[u].level = memcpy(level[u], updates[u].level, updates[u].count);
    }
    const struct evaluation before = learner_evaluate(learner[0], true);
    const uint64_t digest = learner_digest(learner[0]);
    const struct base_trial trial = learner_trial(learner[0], updates, 2, 2);
    assert_int_equal(trial.samples, 4);
    assert_true(trial.before == evaluation_accuracy(&before));
    assert_true(trial.after == 1);
    assert_true(trial.loss_before == before.loss);
    assert_true(trial.loss_after < trial.loss_before);
    assert_true(trial.before < 1);
    const struct base_trial second = learner_trial(learner[0], updates, 2, 1);
    const struct base_trial alone = learner_trial(learner[0], updates + 1, 1, 1);
    assert_true(second.loss_before == alone.loss_after);
    assert_true(second.loss_after == trial.loss_after);
    assert_true(learner_digest(learner[0]) == digest);
    assert_true(learner_evaluate(learner[0], true).loss == before.loss);
    for (int i = 0; i < 2; i++) {
        learner_free(learner[i]);
        model_free(model[i]);
    }
    dataset_free(&train);
}

/* Each step learns each of the four samples four times, and the rate is 0. So the second loss
 * differs only because other numbers are dropped. */
static void each_epoch_drops_others(void **state)
{
    (void)state;
    const struct dataset_options options = {.source = DATASET_XOR, .shards = 1};
    struct dataset train;
    struct problem problem;
    struct model *model;
    assert_int_equal(dataset_load_train(&train, &options, &problem), OK);
    struct learner *learner =
        learner_on("dense 8, tanh, dropout 0.5, dense 2", &model, &train, NULL, 0, 0);
    (void)learner_step(learner);
    const double first = learner_losses(learner);
    (void)learner_step(learner);
    assert_true(fabs(learner_losses(learner) - first) > 1e-3);
    learner_free(learner);
    model_free(model);
    dataset_free(&train);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_learner_alone_learns_through_its_own_publications),
        TEST(two_learners_with_half_the_data_learn_from_each_other),
        TEST(a_step_in_two_halves_is_the_step_and_follows_the_gradient_it_is_given),
        TEST(a_plain_second_half_moves_weights_by_the_rate_alone),
        TEST(a_learner_that_diverged_publishes_nothing_and_resets_to_the_base),
        TEST(a_trial_scores_the_base_with_updates_and_changes_nothing),
        TEST(each_epoch_drops_others),
    };
    RUN_ON_EACH_DEVICE(tests, device_opens, device_closes);
}
