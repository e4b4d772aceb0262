/* One learner on several GPUs: rejected device lists, and training equal to that on one GPU.
 * Without two GPUs and NCCL, only rejected lists are tested. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backend/cuda/cuda_module.h"
#include "training/learner.h"

#define P_MAX 1000

static struct arena arena;
static char text[DEVICE_TEXT_MAX];
static struct problem problem;

static int begin(void **state)
{
    (void)state;
    arena_init(&arena, (size_t)64 << 20);
    problem.text[0] = text[0] = '\0';
    return 0;
}

static int end(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

/* Returns true if tests run on the stand-in for CUDA, with or without NCCL as with_nccl says.
 * HEARSAY_NCCL names the stand-in's NCCL. */
static bool is_stand_in(bool with_nccl)
{
    return getenv("HEARSAY_CUDA") && !getenv("HEARSAY_NCCL") == !with_nccl;
}

static void need_devices(int count)
{
    if (cuda_module()->devices() < count || is_stand_in(false))
        skip();
}

static void must_be_refused(const char *word, const char *why)
{
    struct backend *backend = NULL;
    struct team *team = NULL;
    if (device_open_team(word, 1, PRECISION_FP32, &backend, &team, text, &problem) == OK)
        fail_msg("%s was opened", word);
    if (!strstr(problem.text, why))
        fail_msg("%s: \"%s\" does not say \"%s\"", word, problem.text, why);
    assert_null(team);
}

static void a_list_of_what_is_not_there_is_refused(void **state)
{
    (void)state;
    char word[DEVICE_NAME_MAX];
    struct gpu gpu;
    if (cuda_module()->devices() < 2)
        skip();
    must_be_refused("cuda:0,999", "there is no GPU 999");
    must_be_refused("cuda:999,0", "there is no GPU 999");
    must_be_refused("cuda:0,GPU-ffffffff-0000", "no GPU here has the UUID");
    must_be_refused("cuda:1,0,1", "GPU 1 is named twice");
    assert_true(cuda_module()->device(1, &gpu));
    (void)snprintf(word, sizeof word, "cuda:%s,0,1", gpu.uuid);
    must_be_refused(word, "GPU 1 is named twice");
}

static void no_list_is_a_device_for_who_needs_one(void **state)
{
    (void)state;
    struct backend *backend = NULL;
    assert_int_not_equal(device_open("cuda:0,1", 1, PRECISION_FP32, &backend, text, &problem), OK);
    assert_non_null(strstr(problem.text, "name one"));
}

static void one_gpu_of_a_list_is_no_team(void **state)
{
    (void)state;
    struct backend *backend = NULL;
    struct team *team = NULL;
    const bool is_alone = cuda_module()->devices() == 1;
    if (cuda_module()->devices() == 0)
        skip();
    for (int i = 0; i < 1 + is_alone; i++) {
        const char *word = i ? "cuda:all" : "cuda:0";
        assert_int_equal(device_open_team(word, 1, PRECISION_FP32, &backend, &team, text, &problem),
                         OK);
        assert_null(team);
        backend->close(backend);
    }
}

static void without_nccl_a_list_is_refused(void **state)
{
    (void)state;
    if (!is_stand_in(false))
        skip();
    must_be_refused("cuda:0,1", "2 GPUs need NCCL, and this was built without it");
}

/* HEARSAY_NCCL names the stand-in's library. */
static void rejects_a_device_list_if_nccl_fails(void **state)
{
    (void)state;
    char library[512];
    struct backend *backend;
    if (!is_stand_in(true))
        skip();
    (void)snprintf(library, sizeof library, "%s", getenv("HEARSAY_NCCL"));
    assert_int_equal(setenv("HEARSAY_NCCL", "/nowhere/libnccl.so.2", 1), 0);
    must_be_refused("cuda:0,1", "need NCCL, which cannot be loaded (/nowhere/libnccl.so.2");
    assert_int_equal(device_open("cuda:1", 1, PRECISION_FP32, &backend, text, &problem), OK);
    backend->close(backend); /* a single GPU needs no NCCL */
    assert_int_equal(setenv("HEARSAY_NCCL", "libz.so.1", 1), 0);
    must_be_refused("cuda:0,1", "cannot be loaded (");
    assert_int_equal(setenv("HEARSAY_NCCL", library, 1), 0);
    assert_int_equal(setenv("NCCL_ON_CPU_FAILS", "1", 1), 0);
    must_be_refused("cuda:0,1", "cannot work together (NCCL: unhandled system error");
    assert_int_equal(unsetenv("NCCL_ON_CPU_FAILS"), 0);
}

struct trained {
    struct backend *backend;
    struct team *team;
    struct model *model;
    struct learner *learner;
};

/* Training that is compared on several devices. */
struct plan {
    const char *line;
    enum optimizer_kind kind;
    bool is_of_images; /* true: samples are augmented images; false: four points */
    uint32_t parts;
    uint32_t batch;
    int steps; /* steps with each batch size; the third one is launched as a recorded graph */
};

static struct dataset data_of(const struct plan *plan)
{
    const struct dataset_options about = {.source =
                                              plan->is_of_images ? DATASET_GENERATED : DATASET_XOR,
                                          .seed = 1,
                                          .train_count = 800,
                                          .test_count = 10,
                                          .shards = 1};
    struct dataset train;
    assert_int_equal(dataset_load_train(&train, &about, &problem), OK);
    return train;
}

static struct trained trained_on(const char *word, const struct plan *plan)
{
    struct trained trained;
    struct dataset train = data_of(plan);
    if (device_open_team(word, 1, PRECISION_FP32, &trained.backend, &trained.team, text,
                         &problem) != OK)
        fail_msg("%s: %s", word, problem.text);
    if (model_new(&trained.model, &arena, trained.backend, plan->line, train.shape, train.classes,
                  32, &problem) != OK)
        fail_msg("%s", problem.text);
    assert_true(model_parameters(trained.model) <= P_MAX);
    const struct learner_options options = {
        .optimizer = {.kind = plan->kind,
                      .sgd = {.rate = plan->kind == OPTIMIZER_ADAM ? 0.003f : 0.03f,
                              .momentum = 0.9f},
                      .beta2 = 0.99f,
                      .clip = 1,
                      .schedule = COSINE,
                      .period_samples = 1000,
                      .decay = 0.1f},
        .micro_batches = plan->parts,
        .team = trained.team,
        .label_smoothing = 0.1f,
        .augment = {.flip = plan->is_of_images, .crop = plan->is_of_images ? 2 : 0},
        .batch = plan->batch,
        .batch_max = 32,
        .model_seed = 3,
        .data_seed = 4,
        .density_max = (uint32_t)model_parameters(trained.model) / 4,
    };
    trained.learner = learner_new(&arena, trained.backend, trained.model, &train, NULL, &options);
    dataset_free(&train);
    return trained;
}

static void trained_free(struct trained *trained)
{
    learner_free(trained->learner);
    model_free(trained->model);
    if (trained->team)
        trained->team->close(trained->team);
    trained->backend->close(trained->backend);
}

/* Makes steps that are called, recorded and repeated, with different batch sizes. Returns the sum
 * of their losses. */
static double learns(const struct trained *trained, const struct plan *plan, float *weights)
{
    const uint32_t sizes[] = {plan->batch, plan->batch > 16 ? 5 : 31, plan->batch};
    double losses = 0;
    for (int i = 0; i < 3; i++) {
        learner_set_batch(trained->learner, sizes[i]);
        for (int step = 0; step < plan->steps; step++)
            assert_int_equal(learner_step(trained->learner), sizes[i]);
        losses += learner_losses(trained->learner);
    }
    learner_read_weights(trained->learner, weights);
    return losses;
}

/* Layers that depend on how a step is split: batch norm has statistics of each micro-batch, and
 * dropout draws random masks. */
static const char points_line[] = "conv 2 1x1, batchnorm, relu, dropout 0.2, dense 2";

/* Returns |a - b|² / |a - start|². */
static double far(const float *a, const float *b, const float *start, size_t count)
{
    double error = 0, power = 0;
    for (size_t i = 0; i < count; i++) {
        error += ((double)a[i] - (double)b[i]) * ((double)a[i] - (double)b[i]);
        power += ((double)a[i] - (double)start[i]) * ((double)a[i] - (double)start[i]);
    }
    return error / power;
}

/* Trains on one GPU, and on the GPUs of `word`; both split a step into plan->parts parts. Returns
 * the distance `far` of the weights; 0 = equal, bit for bit. */
static double distance(const char *word, const struct plan *plan)
{
    static float start[P_MAX], alone[P_MAX], together[P_MAX];
    struct trained one = trained_on("cuda:0", plan);
    const size_t parameters = learner_parameters(one.learner);
    learner_read_weights(one.learner, start);
    const double losses = learns(&one, plan, alone);
    trained_free(&one);
    struct trained all = trained_on(word, plan);
    assert_non_null(all.team);
    const double same = learns(&all, plan, together);
    trained_free(&all);
    if (!(fabs(losses - same) < 1e-4 * losses))
        fail_msg("%s: the loss is %.9g, and %.9g on one", word, same, losses);
    assert_memory_not_equal(start, together, parameters * sizeof *start);
    return memcmp(alone, together, parameters * sizeof *alone) == 0
               ? 0
               : far(together, alone, start, parameters);
}

static void two_gpus_learn_as_one_that_makes_two_parts(void **state)
{
    (void)state;
    const enum optimizer_kind kinds[] = {OPTIMIZER_SGD, OPTIMIZER_ADAM};
    const uint32_t sizes[] = {16, 7, 32, 13};
    need_devices(2);
    for (size_t i = 0; i < 4; i++) {
        const struct plan plan = {
            .line = points_line, .kind = kinds[i / 2], .parts = 2, .batch = sizes[i], .steps = 3};
        assert_true(distance(i % 2 ? "cuda:0,1" : "cuda:1,0", &plan) == 0);
    }
    const struct plan images = {
        .line = "maxpool 4, dense 10", .is_of_images = true, .parts = 2, .batch = 6, .steps = 1};
    assert_true(distance("cuda:0,1", &images) == 0);
}

/* Sums of gradients are rounded in another order, so weights differ slightly. */
static void parts_are_shared_out(void **state)
{
    (void)state;
    const struct {
        const char *word;
        uint32_t parts;
    } cases[] = {{"cuda:0,1", 5}, {"cuda:0,1,2", 3}, {"cuda:2,0,1", 7}};
    need_devices(3);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct plan plan = {
            .line = points_line, .parts = cases[i].parts, .batch = 25, .steps = 1};
        const double off = distance(cases[i].word, &plan);
        if (!(off < 1e-8))
            fail_msg("%s, %u parts: off by %g", cases[i].word, (unsigned)cases[i].parts, off);
    }
}

static void a_batch_may_be_smaller_than_the_devices_are_many(void **state)
{
    (void)state;
    need_devices(3);
    for (uint32_t batch = 1; batch <= 2; batch++) {
        const struct plan plan = {
            .line = "dense 3, relu, dense 2", .parts = 3, .batch = batch, .steps = 1};
        const double off = distance("cuda:0,1,2", &plan);
        if (!(off < 1e-8))
            fail_msg("%u samples: off by %g", (unsigned)batch, off);
    }
    const struct plan whole = {
        .line = "dense 3, relu, dense 2", .parts = 1, .batch = 9, .steps = 1};
    assert_true(distance("cuda:0,1", &whole) == 0);
}

static void a_step_in_two_halves_has_the_gradient_of_all(void **state)
{
    (void)state;
    static float gradient[2][P_MAX], weights[2][P_MAX];
    const struct plan plan = {.line = points_line, .parts = 2, .batch = 16, .steps = 1};
    need_devices(2);
    for (int i = 0; i < 2; i++) {
        struct trained trained = trained_on(i ? "cuda:0,1" : "cuda:0", &plan);
        const size_t parameters = learner_parameters(trained.learner);
        for (int step = 0; step < 3; step++) {
            learner_gradient(trained.learner, gradient[i]);
            assert_int_equal(learner_descend(trained.learner, gradient[i]), 16);
        }
        learner_read_weights(trained.learner, weights[i]);
        trained_free(&trained);
        if (i == 0)
            continue;
        assert_memory_equal(gradient[0], gradient[1], parameters * sizeof(float));
        assert_memory_equal(weights[0], weights[1], parameters * sizeof(float));
    }
}

/* A learner's state is on its first device, so a saved learner can continue with another number of
 * devices. */
static void a_learner_goes_on_with_fewer_or_more_devices(void **state)
{
    (void)state;
    static float weights[2][P_MAX];
    const char *const words[2][2] = {{"cuda:0,1", "cuda:0"}, {"cuda:1", "cuda:0,1"}};
    const struct plan plan = {
        .line = points_line, .kind = OPTIMIZER_ADAM, .parts = 2, .batch = 16, .steps = 3};
    need_devices(2);
    for (int way = 0; way < 2; way++) {
        struct trained before = trained_on(words[way][0], &plan);
        struct trained after = trained_on(words[way][1], &plan);
        const size_t parameters = learner_parameters(before.learner);
        const uint32_t moments = learner_moments(before.learner);
        struct learner_state saved;
        void *memory = calloc(1, learner_state_bytes(parameters, moments));
        assert_non_null(memory);
        (void)learns(&before, &plan, weights[0]);
        learner_state_init(&saved, memory, parameters, moments);
        learner_save(before.learner, &saved);
        learner_restore(after.learner, &saved);
        free(memory);
        for (int i = 0; i < 2; i++)
            (void)learns(i ? &after : &before, &plan, weights[i]);
        assert_memory_equal(weights[0], weights[1], parameters * sizeof(float));
        trained_free(&before);
        trained_free(&after);
    }
}

/* The stand-in reads its memory size from the environment. */
static void samples_that_a_worker_cannot_hold_are_fetched(void **state)
{
    (void)state;
    const struct plan plan = {
        .line = "maxpool 4, dense 10", .is_of_images = true, .parts = 2, .batch = 2, .steps = 1};
    if (!is_stand_in(true))
        skip();
    for (int is_small = 0; is_small < 2; is_small++) {
        assert_int_equal(setenv("CUDA_ON_CPU_MIB", is_small ? "33" : "512", 1), 0);
        struct trained trained = trained_on("cuda:0,1", &plan);
        assert_true(learner_reads_far(trained.learner) == is_small);
        (void)learner_step(trained.learner);
        assert_true(learner_losses(trained.learner) > 0);
        trained_free(&trained);
    }
    assert_int_equal(unsetenv("CUDA_ON_CPU_MIB"), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(a_list_of_what_is_not_there_is_refused),
        TEST(no_list_is_a_device_for_who_needs_one),
        TEST(one_gpu_of_a_list_is_no_team),
        TEST(without_nccl_a_list_is_refused),
        TEST(rejects_a_device_list_if_nccl_fails),
        TEST(two_gpus_learn_as_one_that_makes_two_parts),
        TEST(parts_are_shared_out),
        TEST(a_batch_may_be_smaller_than_the_devices_are_many),
        TEST(a_step_in_two_halves_has_the_gradient_of_all),
        TEST(a_learner_goes_on_with_fewer_or_more_devices),
        TEST(samples_that_a_worker_cannot_hold_are_fetched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
