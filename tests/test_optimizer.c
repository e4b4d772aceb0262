/* Adam: against what its papers say, in double precision; and that a net learns with it. The
 * schedule of the learning rate, as a learner follows it, counts what the whole swarm has learned.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "learner.h"
#include "rng.h"
#include "status.h"

#define COUNT 1003
#define ROOM  100

static struct backend *backend;
static struct arena arena;
static float w[COUNT], g[COUNT], m[COUNT], v[COUNT], scale[COUNT];
static double want_w[COUNT], want_m[COUNT], want_v[COUNT];

static int begin(void **state)
{
    (void)state;
    struct rng rng = rng_new(1, 1);
    arena_init(&arena, (size_t)64 << 20);
    for (int i = 0; i < COUNT; i++) {
        want_w[i] = (double)(w[i] = (float)(2 * rng_uniform(&rng) - 1));
        scale[i] = (float)exp(10 * rng_uniform(&rng) - 8); /* a gradient is that large, about */
        g[i] = rng_uniform(&rng) < 0.5 ? -scale[i] : scale[i];
        want_m[i] = want_v[i] = (double)(m[i] = v[i] = 0);
    }
    return 0;
}

static int end(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

/* The operation. */

static void adam_reference(const struct adam *adam, int count)
{
    const double beta1 = (double)adam->beta1, beta2 = (double)adam->beta2;
    for (int i = 0; i < count; i++) {
        const double gradient = (double)g[i];
        want_m[i] = beta1 * want_m[i] + (1 - beta1) * gradient;
        want_v[i] = beta2 * want_v[i] + (1 - beta2) * gradient * gradient;
        const double mean = want_m[i] / (1 - pow(beta1, (double)adam->step));
        const double square = want_v[i] / (1 - pow(beta2, (double)adam->step));
        const double step = mean / (sqrt(square) + (double)adam->epsilon);
        want_w[i] -= (double)adam->rate * (step + (double)adam->weight_decay * want_w[i]);
    }
}

/* The squared error over the squared values. */
static void check_near(const float *got, const double *want, int count)
{
    double error = 0, power = 0;
    for (int i = 0; i < count; i++) {
        error += ((double)got[i] - want[i]) * ((double)got[i] - want[i]);
        power += want[i] * want[i];
    }
    if (!(error <= 1e-12 * power))
        fail_msg("off by %g", error / power);
}

static void adam_agrees_with_the_reference(void **state)
{
    const struct adam settings[] = {
        {.rate = 0.01f, .beta1 = 0.9f, .beta2 = 0.999f, .epsilon = 1e-8f},
        {.rate = 0.01f, .beta1 = 0, .beta2 = 0, .epsilon = 1e-3f},
        {.rate = 0.1f, .beta1 = 0.9f, .beta2 = 0.99f, .epsilon = 0.1f, .weight_decay = 0.5f},
        {.rate = 0.01f, .beta1 = 0.9f, .beta2 = 0.999f, .weight_decay = 0.1f},
    };
    for (size_t k = 0; k < sizeof settings / sizeof settings[0]; k++) {
        const int count = k == 1 ? 1 : COUNT;
        struct adam adam = settings[k];
        struct rng rng = rng_new(2, k);
        (void)begin(state);
        for (adam.step = 1; adam.step <= 50; adam.step++) {
            for (int i = 0; i < count; i++)
                g[i] = scale[i] * (float)(2.2 * rng_uniform(&rng) - 1);
            backend->adam(backend, &adam, (size_t)count, w, g, m, v);
            adam_reference(&adam, count);
        }
        check_near(w, want_w, count);
        check_near(m, want_m, count);
        check_near(v, want_v, count);
        (void)end(state);
    }
}

/* However large a gradient is: the corrections make up for moments that began at zero. */
static void the_first_step_of_adam_is_the_rate_towards_where_the_gradient_falls(void **state)
{
    (void)state;
    const struct adam adam = {
        .rate = 0.01f, .beta1 = 0.9f, .beta2 = 0.999f, .epsilon = 1e-12f, .step = 1};
    backend->adam(backend, &adam, COUNT, w, g, m, v);
    for (int i = 0; i < COUNT; i++)
        assert_true(fabs((double)w[i] - (want_w[i] - (g[i] > 0 ? 0.01 : -0.01))) < 1e-6);
}

static void the_decay_of_adam_leaves_the_moments_alone(void **state)
{
    (void)state;
    const struct adam adam = {.rate = 0.1f,
                              .beta1 = 0.9f,
                              .beta2 = 0.999f,
                              .epsilon = 1e-8f,
                              .weight_decay = 0.5f,
                              .step = 1};
    memset(g, 0, sizeof g);
    backend->adam(backend, &adam, COUNT, w, g, m, v);
    for (int i = 0; i < COUNT; i++) {
        assert_true(m[i] == 0 && v[i] == 0);
        assert_true(fabs((double)w[i] - 0.95 * want_w[i]) < 1e-7);
    }
}

/* Learners. */

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
                                            .told_max = (uint32_t)model_parameters(trained.model)};
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

static const struct tell ALL = {.budget_bytes = 1000000, .share = 1, .gain = 1};

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
        (void)learner_tell(four.learner, &ALL);
        (void)learner_tell(digits.learner, &ALL);
    }
    const struct evaluation cases = learner_evaluate(four.learner, true);
    assert_int_equal(cases.correct, 4);
    assert_true(cases.loss < 0.1);
    assert_true(learner_evaluate(digits.learner, true).correct > 120);
    trained_free(&four);
    trained_free(&digits);
}

/* So its steps are counted from the first. */
static void the_first_step_of_a_learner_with_adam_is_as_far_as_its_rate(void **state)
{
    (void)state;
    const struct optimizer adam = {
        .kind = OPTIMIZER_ADAM, .sgd = {.rate = 0.01f, .momentum = 0.9f}, .beta2 = 0.999f};
    struct trained one = trained_on(DATASET_XOR, model_preset("xor"), &adam);
    const size_t parameters = learner_parameters(one.learner);
    double most = 0;
    learner_read_weights(one.learner, m);
    (void)learner_step(one.learner);
    learner_read_weights(one.learner, w);
    for (size_t c = 0; c < parameters; c++)
        most = fmax(most, fabs((double)w[c] - (double)m[c]));
    assert_true(fabs(most - 0.01) < 1e-5);
    trained_free(&one);
}

/* A rate that is nothing from the thousandth sample on: do weights still move? */
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
    struct tell tell = ALL;
    while (learner_samples(one.learner) < 1000) {
        assert_true(still_learns(&one));
        tell.swarm_samples = learner_samples(one.learner) - 16; /* the news is always old */
        (void)learner_tell(one.learner, &tell);
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
        struct tell tell = ALL;
        tell.swarm_samples = learner_samples(one.learner) + learner_samples(other.learner);
        (void)learner_tell(one.learner, &tell);
        (void)learner_tell(other.learner, &tell);
    }
    assert_false(still_learns(&one));
    assert_false(still_learns(&other));
    trained_free(&one);
    trained_free(&other);
}

static void who_joins_begins_where_the_swarm_is(void **state)
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

static void old_news_does_not_lead_back(void **state)
{
    (void)state;
    struct trained one = short_one();
    struct tell tell = ALL;
    learner_follow(one.learner, 2000);
    tell.swarm_samples = 100;
    (void)learner_tell(one.learner, &tell);
    assert_int_equal(learner_swarm_samples(one.learner), 2000);
    assert_false(still_learns(&one));
    assert_int_equal(learner_swarm_samples(one.learner), 2016);
    trained_free(&one);
}

int main(void)
{
    backend = backend_cpu(1);
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(adam_agrees_with_the_reference),
        TEST(the_first_step_of_adam_is_the_rate_towards_where_the_gradient_falls),
        TEST(the_decay_of_adam_leaves_the_moments_alone),
        TEST(a_net_learns_with_adam),
        TEST(the_first_step_of_a_learner_with_adam_is_as_far_as_its_rate),
        TEST(alone_the_schedule_counts_own_samples),
        TEST(two_are_through_the_schedule_when_each_has_learned_half),
        TEST(who_joins_begins_where_the_swarm_is),
        TEST(old_news_does_not_lead_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
