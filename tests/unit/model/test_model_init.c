/* The first weights: their size, and equal bits on every machine. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "layers/model.h"

#define CLASSES 10

static const struct shape image = {1, 28, 28, 0};

static struct backend *backend;
static struct arena arena;

static int case_begin(void **state)
{
    (void)state;
    backend = backend_cpu(1);
    arena_init(&arena, 1 << 20);
    return 0;
}

static int case_end(void **state)
{
    (void)state;
    arena_release(&arena);
    backend->close(backend);
    return 0;
}

static struct model *build(const char *line, struct shape in, int classes)
{
    struct model *model;
    struct problem problem = {""};
    if (model_new(&model, &arena, backend, line, in, classes, 1, &problem) != OK)
        fail_msg("'%s': %s", line, problem.text);
    return model;
}

/* Returns a hash of the bits of the first weights, which must be equal on every machine. */
static uint64_t init_hash(const struct model *model, uint64_t seed)
{
    const size_t count = model_parameters(model);
    float *weights = calloc(count, sizeof *weights);
    model_init(model, seed, weights);
    uint64_t hash = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &weights[i], sizeof bits);
        hash = rng_mix(hash ^ bits);
    }
    free(weights);
    return hash;
}

static void the_first_weights_are_the_same_bits_everywhere(void **state)
{
    (void)state;
    struct model *model = build(model_preset("lenet"), image, CLASSES);
    assert_int_equal(init_hash(model, 1), 0x2CD1E3DDC071C4B1);
    assert_int_not_equal(init_hash(model, 1), init_hash(model, 2));
    model_free(model);
}

/* A sequence model's weights are drawn one after the other, each as the sum of the next twelve
 * random numbers. */
static void a_weight_is_drawn_alike_alone_and_among_all(void **state)
{
    (void)state;
    enum { TOKENS = 50, SIZE = 24 };
    struct model *model = build("embed 50 24, residual(norm, attention 2), logits",
                                (struct shape){1, 1, 1, 8}, TOKENS);
    const size_t count = model_parameters(model);
    float *weights = calloc(count, sizeof *weights), *part = calloc(count, sizeof *part);
    model_init(model, 9, weights);
    const struct tensor table = model_tensor(model, 0);
    struct rng rng = rng_new(9, 0);
    for (size_t i = 0; i < TOKENS * SIZE; i++) {
        double sum = 0;
        for (int draw = 0; draw < 12; draw++)
            sum += rng_uniform(&rng);
        assert_true(weights[table.offset + i] == (float)(0.02 * (sum - 6)));
    }
    for (size_t first = 0; first < count; first += 7)
        for (size_t size = 1; size <= 200 && first + size <= count; size += 66) {
            model_init_part(model, 9, first, size, part);
            assert_memory_equal(part, weights + first, size * sizeof *part);
        }
    free(part);
    free(weights);
    model_free(model);
}

struct moments {
    double mean, deviation, largest;
};

static struct moments moments_of(const float *values, size_t count)
{
    double sum = 0, squares = 0, largest = 0;
    for (size_t i = 0; i < count; i++) {
        sum += (double)values[i];
        squares += (double)values[i] * (double)values[i];
        largest = fmax(largest, fabs((double)values[i]));
    }
    const double mean = sum / (double)count;
    return (struct moments){mean, sqrt(squares / (double)count - mean * mean), largest};
}

/* Checks the moments of 784 · 256 weights. The standard error of the mean, and of the deviation, is
 * at most 0.23 % of the deviation. */
static void check_moments(struct moments got, double deviation, double largest_max)
{
    assert_true(fabs(got.deviation / deviation - 1) < 0.01);
    assert_true(fabs(got.mean) < 0.01 * deviation);
    assert_true(got.largest <= largest_max &&
                got.largest > 0.99 * fmin(largest_max, 4 * deviation));
}

static void weights_before_relu_are_he_normal_and_others_glorot_uniform(void **state)
{
    (void)state;
    struct model *model = build("dense 256, relu, dense 256, tanh, dense 10", image, CLASSES);
    float *weights = calloc(model_parameters(model), sizeof *weights);
    model_init(model, 3, weights);
    const double he = sqrt(2.0 / 784), glorot = sqrt(6.0 / (256 + 256));
    check_moments(moments_of(weights, 784 * 256), he, 6 * he);
    check_moments(moments_of(weights + model_tensor(model, 1).offset, 256 * 256), glorot / sqrt(3),
                  glorot);
    free(weights);
    model_free(model);
}

/* As in GPT-2, the deviation is 0.02. At the end of a residual it is divided by the root of the
 * number of residuals. */
static void weights_of_sequences_are_small(void **state)
{
    (void)state;
    struct model *model = build(
        "embed 10 256, 2 * (residual(norm, attention 2), residual(dense 512, gelu, dense 256))"
        ", norm, logits",
        (struct shape){1, 1, 1, 8}, CLASSES);
    float *weights = calloc(model_parameters(model), sizeof *weights);
    model_init(model, 3, weights);
    for (int i = 0; i < model_tensors(model); i++) {
        const struct tensor tensor = model_tensor(model, i);
        const size_t count = tensor.dims[0] * (tensor.rank > 1 ? tensor.dims[1] : 1);
        const struct moments got = moments_of(weights + tensor.offset, count);
        const bool is_last = strstr(tensor.name, "out.weight") ||
                             strcmp(tensor.name, "5.dense.weight") == 0 ||
                             strcmp(tensor.name, "10.dense.weight") == 0;
        if (tensor.rank > 1)
            assert_true(fabs(got.deviation / (is_last ? 0.01 : 0.02) - 1) < 0.05);
        else
            assert_true(got.deviation == 0 &&
                        got.mean == (strstr(tensor.name, "norm.weight") ? 1 : 0));
    }
    free(weights);
    model_free(model);
}

static void first_biases_are_zero_whatever_was_there(void **state)
{
    (void)state;
    struct model *model = build("conv 4 3x3, relu, dense 10", (struct shape){1, 4, 4, 0}, CLASSES);
    float weights[512];
    for (size_t i = 0; i < 512; i++)
        weights[i] = NAN;
    model_init(model, 3, weights);
    for (int i = 2; i < model_tensors(model); i++) {
        const struct tensor bias = model_tensor(model, i);
        for (size_t j = 0; j < bias.dims[0]; j++)
            assert_true(weights[bias.offset + j] == 0);
    }
    for (size_t i = 0; i < model_parameters(model); i++)
        assert_true(!isnan(weights[i]));
    assert_true(isnan(weights[model_parameters(model)]));
    model_free(model);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, case_begin, case_end)
    const struct CMUnitTest tests[] = {
        TEST(the_first_weights_are_the_same_bits_everywhere),
        TEST(a_weight_is_drawn_alike_alone_and_among_all),
        TEST(weights_before_relu_are_he_normal_and_others_glorot_uniform),
        TEST(weights_of_sequences_are_small),
        TEST(first_biases_are_zero_whatever_was_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
