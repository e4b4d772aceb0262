/* The evaluator, alone and sharing a model with learners in one thread. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/model/each_device.h"
#include "training/evaluator.h"
#include "training/learner.h"

#define P_MAX  4000
#define TESTS  150
#define ROUNDS 12

static struct arena arena;

static int begin(void **state)
{
    (void)state;
    arena_init(&arena, (size_t)64 << 20);
    backend = open_device();
    return 0;
}

static int end(void **state)
{
    (void)state;
    backend->close(backend);
    arena_release(&arena);
    return 0;
}

static struct model *model_on(struct backend *on, const char *line, const struct dataset *data)
{
    struct model *model;
    struct problem problem;
    assert_int_equal(model_new(&model, &arena, on, line, data->shape, data->classes, 32, &problem),
                     OK);
    assert_true(model_parameters(model) <= P_MAX);
    return model;
}

static void load(const struct dataset_options *options, struct dataset *train, struct dataset *test)
{
    struct problem problem;
    assert_int_equal(dataset_load_train(train, options, &problem), OK);
    assert_int_equal(dataset_load_test(test, options, &problem), OK);
    test->mean = train->mean;
    test->scale = train->scale;
}

static void load_glyphs(struct dataset *train, struct dataset *test)
{
    const struct dataset_options options = {.source = DATASET_GENERATED,
                                            .seed = 1,
                                            .train_count = 100,
                                            .test_count = TESTS,
                                            .shards = 1};
    load(&options, train, test);
}

/* Zero weights give every class the same probability, so each sample's loss is log(classes). The
 * evaluator predicts class 0, which is right for the first and last sample of exclusive or. */
static void weights_of_zero_know_nothing(void **state)
{
    (void)state;
    static const float zeros[P_MAX];
    const struct dataset_options options = {.source = DATASET_XOR, .shards = 1};
    struct dataset train, test;
    load(&options, &train, &test);
    struct model *model = model_on(backend, "dense 3, tanh, dense 2", &test);
    struct evaluator *evaluator = evaluator_new(&arena, backend, model, &test);
    dataset_free(&train);
    dataset_free(&test);
    assert_int_equal(evaluator_samples(evaluator), 4);
    /* first sample, end, number of samples, correct ones */
    static const uint32_t cases[][4] = {{0, 4, 4, 2}, {1, 3, 2, 0}, {3, 4, 1, 1}, {0, 1, 1, 1}};
    for (int i = 0; i < 4; i++) {
        const struct evaluation mark = evaluator_run(evaluator, zeros, cases[i][0], cases[i][1]);
        assert_int_equal(mark.samples, cases[i][2]);
        assert_int_equal(mark.correct, cases[i][3]);
        assert_true(fabs(mark.loss - log(2)) < 1e-7);
    }
    for (uint32_t at = 0; at <= 4; at++) {
        const struct evaluation none = evaluator_run(evaluator, zeros, at, at);
        assert_true(none.samples == 0 && none.correct == 0 && none.loss == 0);
    }
    evaluator_free(evaluator);
    model_free(model);
}

static void see_progress(void *context, uint32_t done, uint32_t all)
{
    uint32_t *seen = context;
    assert_int_equal(all, TESTS);
    assert_true(done > *seen && done <= all);
    *seen = done;
}

static void progress_callbacks_report_evaluated_samples(void **state)
{
    (void)state;
    static float weights[P_MAX];
    struct dataset train, test;
    uint32_t seen = 0;
    load_glyphs(&train, &test);
    struct model *model = model_on(backend, "maxpool 4, dense 10", &test);
    struct evaluator *evaluator = evaluator_new(&arena, backend, model, &test);
    dataset_free(&train);
    dataset_free(&test);
    model_init(model, 1, weights);
    const struct evaluation alone = evaluator_run(evaluator, weights, 0, TESTS);
    evaluator_watch(evaluator, see_progress, &seen);
    const struct evaluation watched = evaluator_run(evaluator, weights, 0, TESTS);
    assert_int_equal(seen, TESTS);
    assert_true(watched.loss == alone.loss && watched.correct == alone.correct);
    evaluator_free(evaluator);
    model_free(model);
}

static void the_marks_of_the_parts_are_the_mark_of_the_whole(void **state)
{
    (void)state;
    static float weights[P_MAX];
    struct dataset train, test;
    load_glyphs(&train, &test);
    struct model *model = model_on(backend, "maxpool 4, dense 10", &test);
    struct evaluator *evaluator = evaluator_new(&arena, backend, model, &test);
    dataset_free(&train);
    dataset_free(&test);
    model_init(model, 1, weights);
    const struct evaluation whole = evaluator_run(evaluator, weights, 0, TESTS);
    assert_int_equal(whole.samples, TESTS);
    assert_in_range(whole.correct, 1, TESTS - 1);
    for (uint32_t cut = 1; cut < TESTS; cut += 13) {
        const struct evaluation left = evaluator_run(evaluator, weights, 0, cut);
        const struct evaluation right = evaluator_run(evaluator, weights, cut, TESTS);
        assert_int_equal(left.samples + right.samples, TESTS);
        assert_int_equal(left.correct + right.correct, whole.correct);
        const double loss = left.loss * cut + right.loss * (TESTS - cut);
        assert_true(fabs(loss - whole.loss * TESTS) < 1e-4);
    }
    evaluator_free(evaluator);
    model_free(model);
}

/* Two learners and an evaluator, and their results. */
struct company {
    float weights[2][P_MAX];
    int32_t units[2][P_MAX];
    double losses[2][ROUNDS];
    struct evaluation scores[2][ROUNDS];
};

static struct learner *learner_on(struct backend *on, struct model *model,
                                  const struct dataset *train, uint32_t i)
{
    const struct learner_options options = {
        .optimizer = {.sgd = {.rate = 0.05f, .momentum = 0.9f}},
        /* with the larger batch, learner 0 uses more of the shared memory */
        .batch = i == 0 ? 16 : 7,
        .model_seed = 3,
        .data_seed = 4,
        .data_node = i,
        .density_max = (uint32_t)model_parameters(model) / 4,
    };
    return learner_new(&arena, on, model, train, NULL, &options);
}

/* Lets two learners and an evaluator take turns. share: they use one model on one backend;
 * otherwise each has its own. */
static void keep_company(struct company *company, bool share)
{
    static const char line[] =
        "conv 4 5x5 pad 2, relu, maxpool 2, conv 3 3x3 pad 1, tanh, maxpool 2, dense 10";
    static const struct publish_terms terms = {
        .budget_bytes = 900, .share = 0.5, .gain = 1, .beta = 0.3};
    struct backend *backends[3] = {backend, backend, backend};
    struct model *models[3];
    struct learner *learners[2];
    struct dataset train, test;
    load_glyphs(&train, &test);
    for (int i = 0; i < 3; i++) {
        if (i > 0 && !share)
            backends[i] = open_device();
        models[i] = i > 0 && share ? models[0] : model_on(backends[i], line, &train);
    }
    struct evaluator *evaluator = evaluator_new(&arena, backends[2], models[2], &test);
    for (uint32_t i = 0; i < 2; i++)
        learners[i] = learner_on(backends[i], models[i], &train, i);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < 2; i++)
            (void)learner_step(learners[i]);
        for (int i = 0; i < 2; i++)
            company->losses[i][round] = learner_losses(learners[i]);
        for (int i = 0; i < 2; i++) {
            learner_apply(learners[1 - i], learner_publish(learners[i], &terms), (float)terms.beta);
            learner_read_weights(learners[i], company->weights[i]);
            learner_read_units(learners[i], company->units[i]);
            company->scores[i][round] = evaluator_run(evaluator, company->weights[i], 0, 50);
        }
    }
    evaluator_free(evaluator);
    for (int i = 0; i < 2; i++)
        learner_free(learners[i]);
    for (int i = 0; i < (share ? 1 : 3); i++)
        model_free(models[i]);
    for (int i = 1; i < 3 && !share; i++)
        backends[i]->close(backends[i]);
    dataset_free(&train);
    dataset_free(&test);
}

static void learners_and_exam_share_a_model_as_if_each_had_its_own(void **state)
{
    (void)state;
    static struct company apart, together;
    keep_company(&apart, false);
    keep_company(&together, true);
    assert_memory_equal(together.weights, apart.weights, sizeof apart.weights);
    assert_memory_equal(together.units, apart.units, sizeof apart.units);
    assert_memory_equal(together.losses, apart.losses, sizeof apart.losses);
    assert_memory_equal(together.scores, apart.scores, sizeof apart.scores);
    for (int i = 0; i < 2; i++) /* training has changed something, so results could differ */
        assert_true(apart.losses[i][ROUNDS - 1] < 0.9 * apart.losses[i][0]);
    assert_memory_not_equal(apart.weights[0], apart.weights[1], sizeof apart.weights[0]);
}

/* Training between two evaluations of the same weights does not change their scores. */
static void the_same_weights_get_the_same_mark_whatever_happens_between(void **state)
{
    (void)state;
    static float weights[P_MAX], others[P_MAX];
    struct dataset train, test;
    load_glyphs(&train, &test);
    struct model *model = model_on(backend, "conv 2 5x5, relu, maxpool 2, dense 10", &train);
    struct evaluator *evaluator = evaluator_new(&arena, backend, model, &test);
    struct learner *learner = learner_on(backend, model, &train, 0);
    dataset_free(&train);
    dataset_free(&test);
    model_init(model, 1, weights);
    model_init(model, 2, others);
    const struct evaluation first = evaluator_run(evaluator, weights, 0, TESTS);
    const struct evaluation other = evaluator_run(evaluator, others, 0, TESTS);
    assert_true(other.loss != first.loss);
    (void)learner_step(learner);
    const struct evaluation again = evaluator_run(evaluator, weights, 0, TESTS);
    assert_true(again.loss == first.loss && again.correct == first.correct);
    learner_free(learner);
    evaluator_free(evaluator);
    model_free(model);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(weights_of_zero_know_nothing),
        TEST(progress_callbacks_report_evaluated_samples),
        TEST(the_marks_of_the_parts_are_the_mark_of_the_whole),
        TEST(learners_and_exam_share_a_model_as_if_each_had_its_own),
        TEST(the_same_weights_get_the_same_mark_whatever_happens_between),
    };
    RUN_ON_EACH_DEVICE(tests, NULL, NULL);
}
