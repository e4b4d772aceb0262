/* Device names, and learners on a GPU, if there is one, compared with learners on the CPU. */
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

#define P_MAX 8000

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

static void only_words_for_devices_are_words(void **state)
{
    (void)state;
    const char *const words[] = {"auto",
                                 "cpu",
                                 "cuda:0",
                                 "cuda:17",
                                 "cuda:GPU-0123",
                                 "cuda:0,1",
                                 "cuda:3,GPU-01,GPU-02",
                                 "cuda:0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15",
                                 "cuda:all"};
    const int counts[] = {1, 1, 1, 1, 1, 2, 3, 16};
    const char *const others[] = {"",
                                  "gpu",
                                  "CPU",
                                  "cuda",
                                  "cuda:",
                                  "cuda:-1",
                                  "cuda:0x1",
                                  "cuda:GPU0",
                                  "cuda:12345",
                                  "autos",
                                  "cuda:0,",
                                  "cuda:,1",
                                  "cuda:0,,1",
                                  "cuda:0, 1",
                                  "cuda:0,all",
                                  "cuda:all,0",
                                  "cuda:0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16",
                                  "cpu,cpu"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        assert_true(device_is_word(words[i]));
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        assert_int_equal(device_count(words[i]), counts[i]);
    const int gpus = cuda_module()->devices();
    assert_int_equal(device_count("cuda:all"), gpus > 0 ? gpus : 1);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_false(device_is_word(others[i]));
    char endless[DEVICE_NAME_MAX + 1] = "cuda:GPU-";
    memset(endless + 9, '0', DEVICE_NAME_MAX - 9);
    assert_false(device_is_word(endless));
}

static void must_be_missing(const char *word, const char *why)
{
    struct backend *backend = NULL;
    assert_int_equal(device_open(word, 1, PRECISION_FP32, &backend, text, &problem), MISSING);
    if (!strstr(problem.text, why))
        fail_msg("%s: \"%s\" does not say \"%s\"", word, problem.text, why);
}

static void a_gpu_that_is_not_there_is_named(void **state)
{
    (void)state;
    const char *why = cuda_module()->devices() > 0 ? "are counted from 0" : "write device = cpu";
    must_be_missing("cuda:999", why);
    why = cuda_module()->devices() > 0 ? "no GPU here has the UUID" : "write device = cpu";
    must_be_missing("cuda:GPU-ffffffff-0000", why);
}

static void must_open(const char *word, const char *name, const char *described)
{
    struct backend *backend = NULL;
    if (device_open(word, 2, PRECISION_FP32, &backend, text, &problem) != OK)
        fail_msg("%s: %s", word, problem.text);
    assert_string_equal(backend->name, name);
    if (!strstr(text, described))
        fail_msg("%s: \"%s\" does not say \"%s\"", word, text, described);
    backend->close(backend);
}

static void opens_the_requested_device(void **state)
{
    (void)state;
    must_open("cpu", "cpu", "2 threads");
    if (cuda_module()->devices() == 0) {
        must_open("auto", "cpu", "cpu: 2 threads, ");
        return;
    }
    struct gpu gpu;
    char word[DEVICE_NAME_MAX];
    assert_true(cuda_module()->device(0, &gpu));
    must_open("auto", "cuda", gpu.name);
    must_open("cuda:0", "cuda", gpu.name);
    (void)snprintf(word, sizeof word, "cuda:%s", gpu.uuid);
    must_open(word, "cuda", gpu.name);
    if (cuda_module()->devices() == 1) /* the first two groups of the UUID are enough */
        word[18] = '\0';
    must_open(word, "cuda", gpu.name);
}

static struct backend *open_gpu(void)
{
    struct backend *backend;
    if (cuda_module()->devices() == 0)
        skip();
    if (device_open("cuda:0", 1, PRECISION_FP32, &backend, text, &problem) != OK)
        fail_msg("%s", problem.text);
    return backend;
}

/* The stand-in reads its compute capability from the environment. */
static void a_gpu_that_cannot_multiply_bfloat16_says_so(void **state)
{
    (void)state;
    struct backend *backend = NULL;
    if (!getenv("HEARSAY_CUDA"))
        skip();
    for (int capability = 7; capability <= 8; capability++) {
        char digit[] = {(char)('0' + capability), '\0'};
        assert_int_equal(setenv("CUDA_ON_CPU_CAPABILITY", digit, 1), 0);
        const enum error error = device_open("cuda:0", 1, PRECISION_BF16, &backend, text, &problem);
        assert_int_equal(error, capability == 7 ? FAILED : OK);
    }
    backend->close(backend);
    assert_non_null(strstr(problem.text, "write precision = fp32"));
    assert_int_equal(unsetenv("CUDA_ON_CPU_CAPABILITY"), 0);
}

/* Lets the backend keep a data set of 1000 samples, and gathers six of them into x[6, size]. far:
 * whether the samples must stay outside the device's memory (is_far). */
static void gather_kept(struct backend *on, const uint8_t *pixels, size_t size, bool far, float *x)
{
    const uint32_t pick[6] = {1, 0, 999, 500, 998, 1};
    bool is_far;
    void *kept = on->keep(on, pixels, 1000 * size, &is_far);
    uint32_t *picked = on->alloc(on, sizeof pick);
    float *gathered = on->alloc(on, 6 * size * sizeof *x);
    on->upload(on, picked, pick, sizeof pick);
    on->gather->pixels(on, 6, size, kept, picked, 127.5f, 0.01f, gathered);
    on->download(on, x, gathered, 6 * size * sizeof *x);
    assert_int_equal(is_far, far);
    void *all[] = {kept, picked, gathered};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        on->free(on, all[i]);
}

/* The stand-in reads its memory size from the environment. */
static void samples_that_a_gpu_cannot_hold_are_fetched(void **state)
{
    (void)state;
    static uint8_t pixels[1000 * 2048];
    static float on_cpu[6 * 2048], on_gpu[6 * 2048];
    if (!getenv("HEARSAY_CUDA"))
        skip();
    for (size_t i = 0; i < sizeof pixels; i++)
        pixels[i] = (uint8_t)(i * 2654435761u >> 13);
    const size_t sizes[] = {2048, 2047, 1990, 1985};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct backend *cpu = backend_cpu(1);
        gather_kept(cpu, pixels, sizes[i], false, on_cpu);
        cpu->close(cpu);
        for (int room = 0; room < 2; room++) {
            assert_int_equal(setenv("CUDA_ON_CPU_MIB", room ? "512" : "35", 1), 0);
            struct backend *gpu = open_gpu();
            gather_kept(gpu, pixels, sizes[i], !room, on_gpu);
            gpu->close(gpu);
            assert_memory_equal(on_gpu, on_cpu, 6 * sizes[i] * sizeof(float));
        }
    }
    assert_int_equal(unsetenv("CUDA_ON_CPU_MIB"), 0);
}

struct trained {
    struct backend *backend;
    struct model *model;
    struct learner *learner;
    struct evaluator *evaluator;
};

static struct trained trained_on(struct backend *backend, enum optimizer_kind kind, uint64_t node)
{
    const struct dataset_options about = {
        .source = DATASET_GENERATED, .seed = 1, .train_count = 300, .test_count = 100, .shards = 1};
    struct trained trained = {.backend = backend};
    struct dataset train, test;
    assert_int_equal(dataset_load_train(&train, &about, &problem), OK);
    assert_int_equal(dataset_load_test(&test, &about, &problem), OK);
    test.mean = train.mean;
    test.scale = train.scale;
    assert_int_equal(model_new(&trained.model, &arena, backend,
                               "conv 4 5x5 pad 2, relu, maxpool 2, conv 3 3x3, tanh, maxpool 2, "
                               "dense 10",
                               train.shape, train.classes, 64, &problem),
                     OK);
    assert_true(model_parameters(trained.model) <= P_MAX);
    const struct learner_options options = {
        .optimizer = {.kind = kind,
                      .sgd = {.rate = kind == OPTIMIZER_ADAM ? 0.003f : 0.03f, .momentum = 0.9f},
                      .beta2 = 0.99f,
                      .schedule = COSINE,
                      .period_samples = 1000,
                      .decay = 0.1f},
        .batch = 16,
        .batch_max = 32,
        .model_seed = 3,
        .data_seed = 4,
        .data_node = node,
        .density_max = (uint32_t)model_parameters(trained.model) / 4,
    };
    trained.learner = learner_new(&arena, backend, trained.model, &train, NULL, &options);
    trained.evaluator = evaluator_new(&arena, backend, trained.model, &test);
    dataset_free(&train);
    dataset_free(&test);
    return trained;
}

static void trained_free(struct trained *trained)
{
    learner_free(trained->learner);
    evaluator_free(trained->evaluator);
    model_free(trained->model);
    trained->backend->close(trained->backend);
}

/* Returns |a - b|² / |a - start|². */
static double apart(const float *a, const float *b, const float *start, size_t count)
{
    double error = 0, power = 0;
    for (size_t i = 0; i < count; i++) {
        error += ((double)a[i] - (double)b[i]) * ((double)a[i] - (double)b[i]);
        power += ((double)a[i] - (double)start[i]) * ((double)a[i] - (double)start[i]);
    }
    return error / power;
}

/* Makes steps with a growing and shrinking batch, and a larger evaluation in between. A graph that
 * was recorded for another batch size must be dropped. A repeated graph must use the current
 * samples and rate. */
static void steps_on_both(struct trained *one, struct trained *other)
{
    static float weights[P_MAX];
    struct trained *both[] = {one, other};
    for (int i = 0; i < 2; i++) {
        for (int step = 0; step < 24; step++) {
            if (step == 8 || step == 16)
                learner_set_batch(both[i]->learner, step == 8 ? 32 : 16);
            if (step == 12) {
                learner_read_weights(both[i]->learner, weights);
                (void)evaluator_run(both[i]->evaluator, weights, 0, 100);
            }
            (void)learner_step(both[i]->learner);
        }
    }
}

static void must_learn_alike(enum optimizer_kind kind)
{
    static float start[P_MAX], on_gpu[P_MAX], on_cpu[P_MAX];
    struct trained gpu = trained_on(open_gpu(), kind, 1);
    struct trained cpu = trained_on(backend_cpu(1), kind, 1);
    const size_t parameters = learner_parameters(gpu.learner);
    learner_read_weights(gpu.learner, start);
    learner_read_weights(cpu.learner, on_cpu);
    assert_memory_equal(start, on_cpu, parameters * sizeof *start);
    steps_on_both(&gpu, &cpu);
    learner_read_weights(gpu.learner, on_gpu);
    learner_read_weights(cpu.learner, on_cpu);
    const double nmse = apart(on_gpu, on_cpu, start, parameters);
    if (!(nmse < 1e-4))
        fail_msg("NMSE %g after 24 steps", nmse);
    const double gpu_losses = learner_losses(gpu.learner), losses = learner_losses(cpu.learner);
    assert_true(fabs(gpu_losses - losses) < 1e-3 * losses);
    const struct evaluation mark = evaluator_run(gpu.evaluator, on_cpu, 0, 100);
    const struct evaluation same = evaluator_run(cpu.evaluator, on_cpu, 0, 100);
    assert_true(fabs(mark.loss - same.loss) < 1e-5);
    assert_int_equal(mark.samples, same.samples);
    trained_free(&gpu);
    trained_free(&cpu);
}

static void a_gpu_learns_as_the_cpu_does(void **state)
{
    (void)state;
    must_learn_alike(OPTIMIZER_SGD);
    must_learn_alike(OPTIMIZER_ADAM);
}

/* Each learner applies what the other one publishes. Their bases are equal, bit for bit. */
static void a_gpu_and_a_cpu_hold_the_same_base(void **state)
{
    (void)state;
    static int32_t units[2][P_MAX];
    const struct publish_terms terms = {.budget_bytes = 1500, .share = 0.5, .gain = 1, .beta = 0.3};
    struct trained both[2] = {trained_on(open_gpu(), OPTIMIZER_SGD, 1),
                              trained_on(backend_cpu(1), OPTIMIZER_SGD, 2)};
    uint32_t published = 0;
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < 2; i++) {
            for (int step = 0; step < 3; step++)
                (void)learner_step(both[i].learner);
            const struct update *update = learner_publish(both[i].learner, &terms);
            published += update->count;
            learner_apply(both[1 - i].learner, update, (float)terms.beta);
        }
        assert_int_equal(learner_digest(both[0].learner), learner_digest(both[1].learner));
    }
    assert_true(published > 1000);
    for (int i = 0; i < 2; i++)
        learner_read_units(both[i].learner, units[i]);
    assert_memory_equal(units[0], units[1], learner_parameters(both[0].learner) * sizeof(int32_t));
    for (int i = 0; i < 2; i++)
        trained_free(&both[i]);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(only_words_for_devices_are_words),
        TEST(a_gpu_that_is_not_there_is_named),
        TEST(opens_the_requested_device),
        TEST(a_gpu_that_cannot_multiply_bfloat16_says_so),
        TEST(samples_that_a_gpu_cannot_hold_are_fetched),
        TEST(a_gpu_learns_as_the_cpu_does),
        TEST(a_gpu_and_a_cpu_hold_the_same_base),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
