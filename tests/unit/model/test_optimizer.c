/* A network trains with Adam. A learner's schedule of the learning rate counts the samples of the
 * whole swarm. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/rng.h"
#include "support/model/each_device.h"
#include "training/learner.h"

#define ROOM 100

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

struct trained {
    struct model *model;
    struct learner *learner;
};

static struct trained trained_on(enum dataset_source source, const char *line,
                                 const struct optimizer *optimizer)
{
    const struct dataset_options data = {
        .source = source, .seed = 1, .train_count = 600, .test_count = 300, .shards = 1};
    struct trained trained;
    struct dataset train, test;
    struct problem problem;
    assert_int_equal(dataset_load_train(&train, &data, &problem), OK);
    assert_int_equal(dataset_load_test(&test, &data, &problem), OK);
    test.mean = train.mean;
    test.scale = train.scale;
    assert_int_equal(
        model_new(&trained.model, &arena, backend, line, train.shape, train.classes, 16, &problem),
        OK);
    const struct learner_options options = {.optimizer = *optimizer,
                                            .batch = 16,
                                            .model_seed = 1,
                                            .data_seed = 1,
                                            .test_to = test.count,
                                            .density_max =
                                                (uint32_t)model_parameters(trained.model)};
    trained.learner = learner_new(&arena, backend, trained.model, &train, &test, &options);
    dataset_free(&train);
    dataset_free(&test);
    return trained;
}

static void trained_free(struct trained *trained)
{
    learner_free(trained->learner);
    model_free(trained->model);
}

static const struct publish_terms ALL = {.budget_bytes = 1000000, .share = 1, .gain = 1};

static void a_net_learns_with_adam(void **state)
{
    (void)state;
    struct optimizer adam = {
        .kind = OPTIMIZER_ADAM, .sgd = {.rate = 0.005f, .momentum = 0.9f}, .beta2 = 0.999f};
    struct trained four = trained_on(DATASET_XOR, model_preset("xor"), &adam);
    adam.sgd.rate = 0.001f;
    struct trained digits = trained_on(DATASET_GENERATED, "dense 32, relu, dense 10", &adam);
    for (int round = 0; round < 40; round++) {
        for (int step = 0; step < 20; step++) {
            (void)learner_step(four.learner);
            (void)learner_step(digits.learner);
        }
        (void)learner_publish(four.learner, &ALL);
        (void)learner_publish(digits.learner, &ALL);
    }
    const struct evaluation cases = learner_evaluate(four.learner, true);
    assert_int_equal(cases.correct, 4);
    assert_true(cases.loss < 0.1);
    assert_true(learner_evaluate(digits.learner, true).correct > 120);
    trained_free(&four);
    trained_free(&digits);
}

/* The bias corrections count the learner's own steps. */
static void the_first_step_of_a_learner_with_adam_is_as_far_as_its_rate(void **state)
{
    (void)state;
    const struct optimizer adam = {
        .kind = OPTIMIZER_ADAM, .sgd = {.rate = 0.01f, .momentum = 0.9f}, .beta2 = 0.999f};
    struct trained one = trained_on(DATASET_XOR, model_preset("xor"), &adam);
    static float before[ROOM], after[ROOM];
    const size_t parameters = learner_parameters(one.learner);
    double most = 0;
    assert_true(parameters <= ROOM);
    learner_read_weights(one.learner, before);
    (void)learner_step(one.learner);
    learner_read_weights(one.learner, after);
    for (size_t c = 0; c < parameters; c++)
        most = fmax(most, fabs((double)after[c] - (double)before[c]));
    assert_true(fabs(most - 0.01) < 1e-5);
    trained_free(&one);
}

/* A rate that is 0 from sample 1000 on, to see which count of samples a learner uses. */
static const struct optimizer SHORT = {
    .sgd = {.rate = 0.01f}, .schedule = STEP, .period_samples = 1000, .decay = 0};

static bool still_learns(const struct trained *trained)
{
    static float before[ROOM], after[ROOM];
    const size_t parameters = learner_parameters(trained->learner);
    assert_true(parameters <= ROOM);
    learner_read_weights(trained->learner, before);
    (void)learner_step(trained->learner);
    learner_read_weights(trained->learner, after);
    return memcmp(before, after, parameters * sizeof *after) != 0;
}

static struct trained short_one(void)
{
    return trained_on(DATASET_XOR, model_preset("xor"), &SHORT);
}

static void alone_the_schedule_counts_own_samples(void **state)
{
    (void)state;
    struct trained one = short_one();
    struct publish_terms terms = ALL;
    while (learner_samples(one.learner) < 1000) {
        assert_true(still_learns(&one));
        /* an old count, which must not matter */
        terms.swarm_samples = learner_samples(one.learner) - 16;
        (void)learner_publish(one.learner, &terms);
        assert_int_equal(learner_swarm_samples(one.learner), learner_samples(one.learner));
    }
    assert_false(still_learns(&one));
    trained_free(&one);
}

static void two_are_through_the_schedule_when_each_has_learned_half(void **state)
{
    (void)state;
    struct trained one = short_one(), other = short_one();
    while (learner_samples(one.learner) < 500) {
        assert_true(still_learns(&one));
        assert_true(still_learns(&other));
        struct publish_terms terms = ALL;
        terms.swarm_samples = learner_samples(one.learner) + learner_samples(other.learner);
        (void)learner_publish(one.learner, &terms);
        (void)learner_publish(other.learner, &terms);
    }
    assert_false(still_learns(&one));
    assert_false(still_learns(&other));
    trained_free(&one);
    trained_free(&other);
}

static void a_joiner_continues_the_swarms_schedule(void **state)
{
    (void)state;
    struct trained early = short_one(), late = short_one();
    learner_follow(early.learner, 983);
    learner_follow(late.learner, 1000);
    assert_true(still_learns(&early));
    assert_false(still_learns(&late));
    trained_free(&early);
    trained_free(&late);
}

static void an_old_count_does_not_lead_back(void **state)
{
    (void)state;
    struct trained one = short_one();
    struct publish_terms terms = ALL;
    learner_follow(one.learner, 2000);
    terms.swarm_samples = 100;
    (void)learner_publish(one.learner, &terms);
    assert_int_equal(learner_swarm_samples(one.learner), 2000);
    assert_false(still_learns(&one));
    assert_int_equal(learner_swarm_samples(one.learner), 2016);
    trained_free(&one);
}

/* A rate that has halved after 3,000 samples of each node. */
static const struct optimizer FALLING = {
    .sgd = {.rate = 0.01f}, .schedule = INVERSE_ROOT, .period_samples = 1000, .decay = 0};

/* Returns the length of the next step after 12,000 samples of the swarm. learners: number of
 * learners that a publication states before the step; 0 = no publication. */
static double step_of(double learners)
{
    static float before[ROOM], after[ROOM];
    struct trained one = trained_on(DATASET_XOR, model_preset("xor"), &FALLING);
    struct publish_terms terms = ALL;
    double sum = 0;
    terms.swarm_samples = 12000;
    terms.learners = learners;
    if (learners > 0)
        (void)learner_publish(one.learner, &terms);
    learner_follow(one.learner, 12000);
    learner_read_weights(one.learner, before);
    (void)learner_step(one.learner);
    learner_read_weights(one.learner, after);
    for (size_t c = 0; c < learner_parameters(one.learner); c++)
        sum += pow((double)after[c] - (double)before[c], 2);
    trained_free(&one);
    return sqrt(sum);
}

static void a_publication_tells_how_many_nodes_share_the_samples(void **state)
{
    (void)state;
    const double alone = step_of(1), four = step_of(4);
    assert_true(fabs(step_of(0) / alone - 1) < 1e-3); /* a new learner assumes that it is alone */
    assert_true(fabs(four / alone - sqrt(13.0 / 4)) < 1e-3);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(a_net_learns_with_adam),
        TEST(the_first_step_of_a_learner_with_adam_is_as_far_as_its_rate),
        TEST(alone_the_schedule_counts_own_samples),
        TEST(two_are_through_the_schedule_when_each_has_learned_half),
        TEST(a_joiner_continues_the_swarms_schedule),
        TEST(an_old_count_does_not_lead_back),
        TEST(a_publication_tells_how_many_nodes_share_the_samples),
    };
    RUN_ON_EACH_DEVICE(tests, device_opens, device_closes);
}
