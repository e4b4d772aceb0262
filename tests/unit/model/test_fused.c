/* Operations that do the work of two layers, compared with the plain operations that they replace.
 * Tested in float32, and on a GPU also with activations in bfloat16, where most are epilogues of
 * products. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/model/operands.h"

static float more[ROOM], want[ROOM], other[ROOM];

/* Compares values, one of which may have been rounded once more when it was stored. */
static void check_alike(const float *got, const float *plain, size_t count)
{
    static double expected[ROOM];
    for (size_t i = 0; i < count; i++)
        expected[i] = (double)plain[i];
    check_near(got, expected, count, GEMM_NMSE);
}

struct norm_case {
    size_t rows;
    int size;
};

static const struct norm_case norms[] = {{1, 1}, {3, 31}, {70, 33}, {4, 768}, {40, 64}, {9, 128}};
#define NORMS (sizeof norms / sizeof norms[0])

static void a_sum_and_its_norm_are_the_sum_and_the_norm(void **state)
{
    for (size_t i = 0; i < 2 * NORMS; i++) {
        const struct norm_case *c = &norms[i / 2];
        const size_t all = c->rows * (size_t)c->size;
        float stats[2][2 * 70 + 1];
        const float *bias = i % 2 ? b : NULL;
        case_begin(state);
        fill(more, all);
        stats[1][2 * c->rows] = NAN;
        more[all] = y[all] = want[all] = NAN;
        memset(other, 0xFF, sizeof other);
        backend->elements->add(backend, all, floats(x), floats(more), floats(dx));
        backend->sequence->norm(backend, c->rows, c->size, floats(dx), w, bias, floats(want),
                                stats[0]);
        backend->sequence->add_norm(backend, c->rows, c->size, floats(x), floats(more),
                                    floats(other), w, bias, floats(y), stats[1]);
        assert_memory_equal(other, dx, all * sizeof *dx);
        check_alike(y, want, all);
        check_alike(stats[1], stats[0], 2 * c->rows);
        assert_true(isnan(y[all]) && isnan(stats[1][2 * c->rows]));
    }
}

/* dx may be the same array as the gradient that bypasses the norm; the last call tests this. */
static void a_norm_adds_the_gradient_that_passed_it_by(void **state)
{
    for (size_t i = 0; i < 2 * NORMS; i++) {
        const struct norm_case *c = &norms[i / 2];
        const size_t size = (size_t)c->size, all = c->rows * size;
        float stats[2 * 70], plain_dw[768], plain_db[768];
        const bool with_b = i % 2;
        case_begin(state);
        fill(more, all);
        backend->sequence->norm(backend, c->rows, c->size, floats(x), w, with_b ? b : NULL,
                                floats(y), stats);
        backend->sequence->norm_backward(backend, c->rows, c->size, floats(x), w, stats, floats(dy),
                                         floats(NULL), floats(want), plain_dw,
                                         with_b ? plain_db : NULL);
        backend->elements->add(backend, all, floats(want), floats(more), floats(want));
        backend->sequence->norm_backward(backend, c->rows, c->size, floats(x), w, stats, floats(dy),
                                         floats(more), floats(dx), dw, with_b ? db : NULL);
        check_alike(dx, want, all);
        assert_memory_equal(dw, plain_dw, size * sizeof *dw);
        assert_true(!with_b || memcmp(db, plain_db, size * sizeof *db) == 0);
        backend->sequence->norm_backward(backend, c->rows, c->size, floats(x), w, stats, floats(dy),
                                         floats(more), floats(more), dw, with_b ? db : NULL);
        assert_memory_equal(more, dx, all * sizeof *dx);
        assert_true(isnan(dx[all]));
    }
}

struct dense_case {
    int batch, in, out;
};

/* Widths that are multiples of 8 (16 bytes of bfloat16), and other widths. */
static const struct dense_case denses[] = {{1, 8, 8},    {5, 8, 16},  {33, 24, 40}, {9, 17, 24},
                                           {12, 16, 31}, {7, 13, 11}, {64, 32, 64}};
#define DENSES (sizeof denses / sizeof denses[0])

static void a_dense_layer_computes_the_activation_behind_it(void **state)
{
    for (size_t i = 0; i < 4 * DENSES; i++) {
        const struct dense_case c = denses[i / 4];
        const enum activation activation = i % 2 ? SILU : GELU;
        const struct numbers bias = floats(i / 2 % 2 ? b : NULL);
        const size_t all = (size_t)(c.batch * c.out);
        case_begin(state);
        more[all] = NAN;
        backend->dense->forward(backend, c.batch, c.in, c.out, floats(x), floats(w), bias, LINEAR,
                                floats(other));
        backend->activation->forward(backend, activation, all, floats(other), floats(want));
        backend->dense->activate_forward(backend, c.batch, c.in, c.out, floats(x), floats(w), bias,
                                         activation, floats(more), floats(y));
        check_alike(more, other, all);
        check_alike(y, want, all);
        assert_true(isnan(more[all]) && isnan(y[all]));
    }
}

static void a_dense_layer_computes_the_gradient_of_the_activation_before_it(void **state)
{
    for (size_t i = 0; i < 2 * DENSES; i++) {
        const struct dense_case c = denses[i / 2];
        const enum activation activation = i % 2 ? SILU : GELU;
        const size_t ins = (size_t)(c.batch * c.in), weights = (size_t)(c.in * c.out);
        float plain_dw[64 * 64], plain_db[64];
        case_begin(state);
        fill(more, ins);
        backend->activation->forward(backend, activation, ins, floats(more), floats(x));
        backend->dense->backward(backend, c.batch, c.in, c.out, floats(x), floats(w), floats(NULL),
                                 LINEAR, floats(dy), floats(want), plain_dw, plain_db, false);
        backend->activation->backward(backend, activation, ins, floats(more), floats(want),
                                      floats(want));
        backend->dense->activate_backward(backend, c.batch, c.in, c.out, floats(x), floats(w),
                                          floats(dy), activation, floats(more), floats(dx), dw, db);
        check_alike(dx, want, ins);
        check_alike(dw, plain_dw, weights);
        check_alike(db, plain_db, (size_t)c.out);
        assert_true(isnan(dx[ins]) && isnan(dw[weights]) && isnan(db[c.out]));
    }
}

static void the_product_of_weight_gradients_adds_up_those_of_biases(void **state)
{
    for (size_t i = 0; i < DENSES; i++) {
        const struct dense_case c = denses[i];
        case_begin(state);
        for (int k = 0; k < c.batch * c.out; k++)
            want_db[k % c.out] += (double)dy[k];
        for (int k = 0; k < c.batch; k++)
            for (int j = 0; j < c.out * c.in; j++)
                want_dw[j] += (double)dy[k * c.out + j / c.in] * (double)x[k * c.in + j % c.in];
        backend->dense->backward(backend, c.batch, c.in, c.out, floats(x), floats(w), floats(NULL),
                                 LINEAR, floats(dy), floats(dx), dw, db, false);
        check_near(db, want_db, (size_t)c.out, GEMM_NMSE);
        check_near(dw, want_dw, (size_t)(c.in * c.out), GEMM_NMSE);
        assert_true(isnan(db[c.out]) && isnan(dw[c.in * c.out]));
    }
}

/* Makes one step with optimizer `rule` from the drawn w, m and v. */
static void step_by(int rule, const float *factor, float *g, float *to_w, float *m, float *v)
{
    enum { ROWS = 8, COLUMNS = 12, COUNT = ROWS * COLUMNS };
    const struct sgd sgd = {.rate = 0.1f, .momentum = 0.9f, .weight_decay = 0.01f, .decayed = 50};
    const struct adam adam = {0.01f, 0.9f, 0.99f, 1e-8f, 0.01f, 50, 3};
    const struct optimizer_operations *optimize = backend->optimize;
    memcpy(to_w, w, COUNT * sizeof *w);
    memcpy(m, b, COUNT * sizeof *m);
    for (int i = 0; i < COUNT; i++)
        v[i] = b[i] * b[i];
    if (rule == 0)
        optimize->sgd(backend, &sgd, factor, COUNT, to_w, g, m);
    else if (rule == 1)
        optimize->adam(backend, &adam, factor, COUNT, to_w, g, m, v);
    else if (rule == 2)
        optimize->lamb(backend, &adam, factor, COUNT, true, to_w, g, m, v);
    else
        optimize->muon(backend, &sgd, factor, ROWS, COLUMNS, to_w, g, m);
}

/* The factor is one half, so scaling is exact. */
static void an_optimizer_scales_the_gradients_on_its_way(void **state)
{
    enum { COUNT = 96 };
    const float half = 0.5f;
    for (int rule = 0; rule < 4; rule++) {
        case_begin(state);
        for (int i = 0; i < COUNT; i++)
            dy[i] = half * x[i];
        step_by(rule, &half, x, y, dx, more);
        step_by(rule, NULL, dy, want, dw, other);
        assert_memory_equal(y, want, COUNT * sizeof *y);
        assert_memory_equal(dx, dw, COUNT * sizeof *dx);
        assert_memory_equal(more, other, COUNT * sizeof *more);
        assert_memory_not_equal(y, w, COUNT * sizeof *y);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, case_begin)
    const struct CMUnitTest tests[] = {
        TEST(a_sum_and_its_norm_are_the_sum_and_the_norm),
        TEST(a_norm_adds_the_gradient_that_passed_it_by),
        TEST(a_dense_layer_computes_the_activation_behind_it),
        TEST(a_dense_layer_computes_the_gradient_of_the_activation_before_it),
        TEST(the_product_of_weight_gradients_adds_up_those_of_biases),
        TEST(an_optimizer_scales_the_gradients_on_its_way),
    };
    RUN_IN_BOTH_TYPES(tests);
}
