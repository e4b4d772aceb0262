/* Logits and their loss as one operation, in each precision, compared with the plain operations and
 * with sums in double. Vocabularies have any size, so rows are padded. Labels may be ignored or
 * smoothed. Some rows are computed at a time, or all. Scratch memory starts as NaN. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/memory.h"
#include "base/rng.h"
#include "layers/model.h"
#include "support/model/host_backend.h"

struct logits_case {
    int rows, in, classes, at_once;
    float smoothing;
};

static const struct logits_case cases[] = {
    {1, 1, 1, 1, 0},        {5, 8, 16, 5, 0},        {7, 17, 1027, 3, 0},      {6, 24, 50, 1, 0.2f},
    {33, 9, 2051, 8, 0.1f}, {130, 132, 2051, 64, 0}, {130, 132, 2051, 999, 0}, {4, 130, 5, 2, 0},
};
#define CASES (sizeof cases / sizeof cases[0])

/* The arrays of one operation. A NaN behind each of them must not be overwritten. */
struct arrays {
    float *x, *w, *scratch, *dx, *dw;
    int32_t *labels;
    struct score score;
};

static struct rng rng;

static float *drawn(size_t count)
{
    float *values = memory_new(count + 1, sizeof *values);
    for (size_t i = 0; i < count; i++)
        values[i] = (float)(2 * rng_uniform(&rng) - 1);
    values[count] = NAN;
    return values;
}

static float *nans(size_t count)
{
    float *values = memory_new(count + 1, sizeof *values);
    for (size_t i = 0; i <= count; i++)
        values[i] = NAN;
    return values;
}

static size_t inputs(struct logits_case c)
{
    return (size_t)c.rows * (size_t)c.in;
}

static size_t weights(struct logits_case c)
{
    return (size_t)c.classes * (size_t)c.in;
}

static size_t numbers(struct logits_case c)
{
    return (size_t)c.rows * (size_t)c.classes;
}

static struct cross_entropy loss_of(struct logits_case c)
{
    return (struct cross_entropy){c.rows, c.classes, c.rows + 2, c.smoothing};
}

static struct arrays arrays_of(struct logits_case c)
{
    struct arrays a = {.x = drawn(inputs(c)), .w = drawn(weights(c))};
    const size_t at_once = (size_t)(c.at_once < c.rows ? c.at_once : c.rows);
    a.scratch = nans(at_once * logits_stride(c.classes));
    a.dx = nans(inputs(c));
    a.dw = nans(weights(c));
    a.labels = memory_new((size_t)c.rows, sizeof *a.labels);
    for (int i = 0; i < c.rows; i++)
        a.labels[i] = i % 5 == 3 ? LABEL_IGNORED : (int32_t)rng_below(&rng, (uint32_t)c.classes);
    return a;
}

static void arrays_free(struct arrays *a)
{
    free(a->x);
    free(a->w);
    free(a->scratch);
    free(a->dx);
    free(a->dw);
    free(a->labels);
}

/* Fills the scratch buffer for rounded operands with NaN. */
static void make_dirty(void)
{
    enum { ROWS = 64, IN = 1024 };
    float *x = nans(ROWS * IN), *w = drawn(IN), *y = drawn(ROWS);
    backend->dense->forward(backend, ROWS, IN, 1, floats(x), floats(w), floats(NULL), LINEAR,
                            floats(y));
    assert_true(isnan(y[0]));
    free(x);
    free(w);
    free(y);
}

static void fused(struct logits_case c, struct arrays *a, bool learns)
{
    const struct logits logits = {.loss = loss_of(c),
                                  .in = c.in,
                                  .at_once = c.at_once < c.rows ? c.at_once : c.rows,
                                  .scratch = a->scratch};
    a->score = (struct score){0};
    backend->loss->logits(backend, &logits, floats(a->x), floats(a->w), a->labels,
                          floats(learns ? a->dx : NULL), learns ? a->dw : NULL, &a->score);
    assert_true(isnan(a->dx[inputs(c)]) && isnan(a->dw[weights(c)]));
}

/* Returns the squared distance between `got` and `want`, relative to the squares of `want`. */
static double nmse(size_t count, const float *got, const float *want)
{
    double apart = 0, all = 1e-30;
    for (size_t i = 0; i < count; i++) {
        const double difference = (double)got[i] - (double)want[i];
        apart += difference * difference;
        all += (double)want[i] * (double)want[i];
    }
    return apart / all;
}

/* A gradient halfway between two bfloat16 numbers may be rounded to either. */
static double nmse_max(enum precision precision)
{
    return precision == PRECISION_FP32 ? 1e-10 : 1e-6;
}

static void check_against_plain(struct logits_case c, enum precision precision)
{
    struct arrays a = arrays_of(c);
    float *y = nans(numbers(c)), *dx = nans(inputs(c)), *dw = nans(weights(c));
    const struct cross_entropy loss = loss_of(c);
    struct score score = {0};
    make_dirty();
    fused(c, &a, true);
    backend->dense->forward(backend, c.rows, c.in, c.classes, floats(a.x), floats(a.w),
                            floats(NULL), LINEAR, floats(y));
    backend->loss->cross_entropy(backend, &loss, y, a.labels, y, &score);
    backend->dense->backward(backend, c.rows, c.in, c.classes, floats(a.x), floats(a.w), floats(y),
                             LINEAR, floats(y), floats(dx), dw, NULL, false);
    assert_true(nmse(inputs(c), a.dx, dx) <= nmse_max(precision));
    assert_true(nmse(weights(c), a.dw, dw) <= nmse_max(precision));
    assert_true(fabs(a.score.loss - score.loss) <= 1e-5 * (1 + score.loss));
    assert_int_equal(a.score.labels, score.labels);
    assert_int_equal(a.score.correct, score.correct);
    free(y);
    free(dx);
    free(dw);
    arrays_free(&a);
}

/* Returns the gradient of logit k of a row. shares: the row's exponentials; sum: their sum. */
static double gradient_of(struct logits_case c, const double *shares, double sum, int32_t label,
                          int k)
{
    const double spread = (double)c.smoothing / c.classes;
    const double wanted = spread + (k == label ? 1 - (double)c.smoothing : 0);
    return label == LABEL_IGNORED ? 0 : (shares[k] / sum - wanted) / (c.rows + 2);
}

/* Compares with sums in double. In lower precisions the operation rounds operands and gradients, so
 * its results may differ more. */
static void check_against_sums(struct logits_case c, enum precision precision)
{
    struct arrays a = arrays_of(c);
    const size_t in = (size_t)c.in;
    float *dx = memory_new(inputs(c), sizeof *dx), *dw = memory_new(weights(c), sizeof *dw);
    double *shares = memory_new((size_t)c.classes, sizeof *shares);
    fused(c, &a, true);
    for (size_t i = 0; i < (size_t)c.rows; i++) {
        double sum = 0;
        for (size_t k = 0; k < (size_t)c.classes; k++) {
            double logit = 0;
            for (size_t j = 0; j < in; j++)
                logit += (double)a.x[i * in + j] * (double)a.w[k * in + j];
            sum += shares[k] = exp(logit);
        }
        for (size_t k = 0; k < (size_t)c.classes; k++) {
            const double dy = gradient_of(c, shares, sum, a.labels[i], (int)k);
            for (size_t j = 0; j < in; j++) {
                dx[i * in + j] += (float)(dy * (double)a.w[k * in + j]);
                dw[k * in + j] += (float)(dy * (double)a.x[i * in + j]);
            }
        }
    }
    const double most = precision == PRECISION_FP32 ? 1e-8 : 1e-3;
    assert_true(nmse(inputs(c), a.dx, dx) <= most);
    assert_true(nmse(weights(c), a.dw, dw) <= most);
    free(dx);
    free(dw);
    free(shares);
    arrays_free(&a);
}

/* Checks that training and scoring give equal scores, bit for bit, and that scoring writes no
 * gradients. */
static void check_scoring(struct logits_case c)
{
    struct arrays a = arrays_of(c);
    fused(c, &a, false);
    const struct score scored = a.score;
    for (size_t i = 0; i < inputs(c); i++)
        assert_true(isnan(a.dx[i]));
    for (size_t i = 0; i < weights(c); i++)
        assert_true(isnan(a.dw[i]));
    fused(c, &a, true);
    assert_memory_equal(&scored, &a.score, sizeof scored);
    arrays_free(&a);
}

static void open_in(enum precision precision)
{
    rng = rng_new(11, 11);
    backend = host_backend(open_device_in(precision));
}

static void close_device(void)
{
    struct backend *device = gpu_under_test < 0 ? backend : device_of_tests;
    device->close(device);
}

static const enum precision precisions[] = {PRECISION_FP32, PRECISION_TF32, PRECISION_BF16};
#define PRECISIONS (gpu_under_test < 0 ? 1 : 3)

static void agree_with_the_operations_they_stand_for(void **state)
{
    (void)state;
    for (int p = 0; p < PRECISIONS; p++) {
        open_in(precisions[p]);
        for (size_t i = 0; i < CASES; i++)
            check_against_plain(cases[i], precisions[p]);
        close_device();
    }
}

static void agree_with_sums_in_double(void **state)
{
    (void)state;
    for (int p = 0; p < PRECISIONS; p++) {
        open_in(precisions[p]);
        for (size_t i = 0; i + 3 < CASES; i++)
            check_against_sums(cases[i], precisions[p]);
        close_device();
    }
}

static void scoring_gives_the_score_of_learning(void **state)
{
    (void)state;
    for (int p = 0; p < PRECISIONS; p++) {
        open_in(precisions[p]);
        for (size_t i = 0; i < 5; i++)
            check_scoring(cases[i]);
        close_device();
    }
}

static void a_row_that_is_not_a_number_spoils_the_loss(void **state)
{
    (void)state;
    const struct logits_case c = {6, 8, 20, 4, 0};
    for (int p = 0; p < PRECISIONS; p++) {
        open_in(precisions[p]);
        struct arrays a = arrays_of(c);
        a.x[0] = NAN;
        fused(c, &a, true);
        assert_true(isnan(a.score.loss) && isnan(a.dx[0]) && !isnan(a.dx[8]));
        arrays_free(&a);
        close_device();
    }
}

enum { TOKENS = 301, LENGTH = 6, SAMPLES = 5 };

/* Computes a small language model's gradients on `device`, with the logits of at_once samples at a
 * time. Returns the loss. */
static double learn_on(struct backend *device, size_t at_once, float **gradients, size_t *count)
{
    const char *line = "embed 301 24, position 6, residual(norm, attention 2), norm, logits tied";
    const struct model_use use = {.batch_max = SAMPLES, .logits_floats = at_once * TOKENS * LENGTH};
    int32_t tokens[SAMPLES * LENGTH], labels[SAMPLES * LENGTH];
    struct rng drawing = rng_new(12, 12);
    struct score score = {0};
    struct arena arena;
    struct model *model;
    struct problem problem = {""};
    for (int i = 0; i < SAMPLES * LENGTH; i++) {
        tokens[i] = (int32_t)rng_below(&drawing, TOKENS);
        labels[i] = (int32_t)rng_below(&drawing, TOKENS);
    }
    arena_init(&arena, 4096);
    assert_int_equal(model_new_for(&model, &arena, device, line, (struct shape){1, 1, 1, LENGTH},
                                   TOKENS, &use, &problem),
                     OK);
    *count = model_parameters(model);
    const size_t bytes = *count * sizeof(float);
    float *host = memory_new(*count, sizeof *host);
    model_init(model, 1, host);
    float *w = device->alloc(device, bytes), *g = device->alloc(device, bytes);
    float *x = device->alloc(device, sizeof tokens);
    int32_t *y = device->alloc(device, sizeof labels);
    struct score *sum = device->alloc(device, sizeof *sum);
    device->upload(device, w, host, bytes);
    device->upload(device, x, tokens, sizeof tokens);
    device->upload(device, y, labels, sizeof labels);
    model_learn(model, w, g, x, y, SAMPLES, sum);
    device->download(device, host, g, bytes);
    device->download(device, &score, sum, sizeof score);
    void *const taken[] = {w, g, x, y, sum};
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++)
        device->free(device, taken[i]);
    model_free(model);
    arena_release(&arena);
    *gradients = host;
    return score.loss;
}

/* In bfloat16 operands have 8 significant bits, so results may differ more. */
static void a_language_model_learns_as_on_the_cpu(void **state)
{
    (void)state;
    for (int p = 0; p < PRECISIONS; p++) {
        for (size_t at_once = 1; at_once <= SAMPLES; at_once += 2) {
            struct backend *device = open_device_in(precisions[p]), *cpu = backend_cpu(1);
            float *got, *want;
            size_t count;
            const double loss = learn_on(device, at_once, &got, &count);
            const double wanted = learn_on(cpu, SAMPLES, &want, &count);
            assert_true(fabs(loss - wanted) <= 1e-4 * wanted);
            assert_true(nmse(count, got, want) <= (precisions[p] == PRECISION_BF16 ? 1e-4 : 1e-6));
            free(got);
            free(want);
            device->close(device);
            cpu->close(cpu);
        }
    }
}

/* The budget depends only on free memory, so allocating memory lowers it. */
static void the_budget_follows_the_free_memory(void **state)
{
    (void)state;
    struct backend *device = open_device();
    const size_t before = device->loss->logits_budget(device);
    assert_true(before > 0);
    assert_int_equal(device->loss->logits_budget(device), before);
    if (gpu_under_test >= 0) {
        void *memory = device->alloc(device, (size_t)300 << 20);
        assert_true(device->loss->logits_budget(device) <= before);
        device->free(device, memory);
    }
    assert_int_equal(device->loss->logits_budget(device), before);
    device->close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agree_with_the_operations_they_stand_for),
        cmocka_unit_test(agree_with_sums_in_double),
        cmocka_unit_test(scoring_gives_the_score_of_learning),
        cmocka_unit_test(a_row_that_is_not_a_number_spoils_the_loss),
        cmocka_unit_test(a_language_model_learns_as_on_the_cpu),
        cmocka_unit_test(the_budget_follows_the_free_memory),
    };
    RUN_ON_EACH_DEVICE(tests, NULL, NULL);
}
