/* Inference requests to a learner. The description survives the round trip, predictions equal the
 * model's output, and impossible requests are rejected with a message. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "config/inference_words.h"

#define COUNT 7 /* requested samples, more than the model computes at once */
#define BATCH 3

static struct arena arena;
static struct backend *backend;
static struct model *model;
static struct learner *learner;
static struct problem problem;
static char about[INFERENCE_WORDS_BYTES];
static struct inference_form form;

static int begin(void **state)
{
    (void)state;
    arena_init_growing(&arena);
    backend = backend_cpu(1);
    return 0;
}

static int end(void **state)
{
    (void)state;
    if (learner)
        learner_free(learner);
    if (model)
        model_free(model);
    learner = NULL;
    model = NULL;
    backend->close(backend);
    arena_release(&arena);
    return 0;
}

/* Makes a learner whose test set has one sample of this shape. */
static void make(const char *line, struct shape shape, int classes, bool is_floats, bool has_labels)
{
    const size_t numbers = shape_size(shape);
    int32_t label = 0;
    struct dataset test = {.count = 1,
                           .shape = shape,
                           .classes = classes,
                           .pixels = is_floats ? NULL : calloc(numbers, 1),
                           .numbers = is_floats ? calloc(numbers, sizeof(float)) : NULL,
                           .labels = has_labels ? &label : NULL,
                           .targets = has_labels ? NULL : calloc((size_t)classes, sizeof(float)),
                           .mean = is_floats ? 0 : 100,
                           .scale = is_floats ? 1 : 0.25f};
    const struct learner_options options = {.model_seed = 3, .test_to = 1, .density_max = 1};
    if (model_new(&model, &arena, backend, line, shape, classes, BATCH, &problem) != OK)
        fail_msg("%s", problem.text);
    learner = learner_new(&arena, backend, model, NULL, &test, &options);
    free(test.pixels);
    free(test.numbers);
    free(test.targets);
}

static struct inference_shape read_back(void)
{
    struct inference_shape shape;
    assert_int_equal(inference_words_form(learner, about, &form, &problem), OK);
    assert_ptr_equal(form.about, about);
    assert_int_equal(inference_words_read(about, strlen(about), &shape), OK);
    assert_int_equal(shape.bytes, form.sample_bytes);
    assert_int_equal(shape.outputs, form.outputs);
    return shape;
}

/* Compares the predictions for x[COUNT] with the base's output, one sample at a time. */
static void assert_computed(const float *x, const float *numbers)
{
    const size_t in = shape_size(model_input(model)), out = (size_t)model_outputs(model);
    float *base = arena_alloc(&arena, learner_parameters(learner), sizeof *base);
    learner_read_base(learner, base);
    for (size_t i = 0; i < COUNT; i++) {
        const float *y = model_forward(model, base, x + i * in, 1);
        for (size_t k = 0; k < out; k++)
            assert_float_equal(numbers[i * out + k], y[k], 1e-5);
        assert_float_not_equal(y[0], i > 0 ? numbers[(i - 1) * out] : 1e9f, 1e-6);
    }
}

static void bytes_are_normalised_and_computed(void **state)
{
    (void)state;
    uint8_t samples[COUNT * 2 * 5 * 4];
    float x[sizeof samples], numbers[COUNT * 10];
    make("conv 3 3x3, relu, dense 10", (struct shape){2, 5, 4, 0}, 10, false, true);
    const struct inference_shape shape = read_back();
    assert_string_equal(about, "2x5x4 uint8, 10 classes");
    assert_int_equal(form.samples_max, 64);
    assert_true(!shape.is_floats && !shape.is_regression && shape.shape.width == 4);
    for (size_t i = 0; i < sizeof samples; i++) {
        samples[i] = (uint8_t)(i * 37 + i / 40 * 11);
        x[i] = ((float)samples[i] - 100) * 0.25f;
    }
    learner_predict(learner, samples, sizeof samples, COUNT, numbers);
    assert_computed(x, numbers);
}

static void floats_are_taken_as_they_are(void **state)
{
    (void)state;
    float x[COUNT * 6], numbers[COUNT * 2];
    make("dense 5, tanh, dense 2", (struct shape){1, 1, 6, 0}, 2, true, false);
    const struct inference_shape shape = read_back();
    assert_string_equal(about, "1x1x6 float32, 2 numbers");
    assert_true(shape.is_floats && shape.is_regression);
    for (size_t i = 0; i < COUNT * 6; i++)
        x[i] = (float)(i % 11) / 4 - (float)i / 30;
    learner_predict(learner, (const uint8_t *)x, sizeof x, COUNT, numbers);
    assert_computed(x, numbers);
}

static void as_many_are_asked_as_fit_a_message(void **state)
{
    (void)state;
    make("dense 10", (struct shape){3, 100, 100, 0}, 10, false, true);
    (void)read_back();
    assert_int_equal(form.samples_max, 2); /* a sample has 30,000 bytes */
    learner_free(learner);
    model_free(model);
    make("dense 4000", (struct shape){1, 1, 2, 0}, 4000, false, true);
    (void)read_back();
    assert_int_equal(form.samples_max, 4); /* a reply can have 16,000 numbers */
}

static void rejects_samples_that_do_not_fit(void **state)
{
    (void)state;
    make("dense 10", (struct shape){1, 300, 300, 0}, 10, false, true);
    assert_int_equal(inference_words_form(learner, about, &form, &problem), MISMATCH);
    assert_non_null(strstr(problem.text, "a sample of 90000 bytes"));
}

static void words_that_are_none_are_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {"",
                                        "1x2x3",
                                        "1x2x3 uint8, 10 classes ",
                                        "1x2x3 uint8, 10 classes, more",
                                        "1x2x3 uint9, 10 classes",
                                        "1x2x3 uint8, 10 things",
                                        "1x2x0 uint8, 10 classes",
                                        "1x-2x3 uint8, 10 classes",
                                        "99999x99999x99999 float32, 10 classes",
                                        "1x300x300 uint8, 10 classes",
                                        "1x200x200 float32, 10 classes",
                                        "1x2x3 uint8, 0 classes",
                                        "1x2x3 uint8, 16001 classes",
                                        "1x2x3 uint8, -5 classes"};
    struct inference_shape shape = {.outputs = 77};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        if (inference_words_read(wrong[i], strlen(wrong[i]), &shape) != MALFORMED)
            fail_msg("\"%s\" is taken", wrong[i]);
    assert_int_equal(inference_words_read("1x2x3 uint8, 10 classes\0x", 25, &shape), MALFORMED);
    static const char long_words[INFERENCE_WORDS_BYTES] = "1x2x3 uint8, 10 classes";
    assert_int_equal(inference_words_read(long_words, sizeof long_words, &shape), MALFORMED);
    assert_int_equal(shape.outputs, 77);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(bytes_are_normalised_and_computed),  TEST(floats_are_taken_as_they_are),
        TEST(as_many_are_asked_as_fit_a_message), TEST(rejects_samples_that_do_not_fit),
        TEST(words_that_are_none_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
