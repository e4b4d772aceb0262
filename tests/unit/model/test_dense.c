/* Dense layers in each precision of a device, compared with sums in double. Widths give rows every
 * alignment. In the last case each row is padded for the computation and packed afterwards.
 * Weights, biases and their gradients have any alignment (host_backend.h). test_backend.c tests
 * these layers in float32. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "support/model/host_backend.h"

struct dense_case {
    int batch, in, out;
};

static const struct dense_case cases[] = {{4, 32, 10}, {33, 17, 1027}, {4, 24, 2051},   {9, 27, 64},
                                          {5, 8, 1},   {40, 10, 3},    {130, 132, 2051}};
#define CASES (sizeof cases / sizeof cases[0])

static const enum activation activations[] = {LINEAR, RELU, SIGMOID, TANH};

struct operands {
    float *x, *w, *b, *y, *dy, *dx, *dw, *db;
};

static enum precision precision;
static struct rng rng;

/* Rounds values as the device rounds its operands in PRECISION_BF16: to the nearest bfloat16, ties
 * to even. Leaves them unchanged in other precisions. */
static void round_all(float *values, size_t count)
{
    /* spacing of bfloat16 numbers from 0.5 to 1, the range of `part` */
    const double half_way = ldexp(1, -8);
    for (size_t i = 0; i < count && precision == PRECISION_BF16; i++) {
        int power;
        const double part = frexp((double)values[i], &power);
        values[i] = (float)ldexp(nearbyint(part / half_way) * half_way, power);
    }
}

/* A TF32 mantissa has ten stored bits, so each factor has a relative error of at most 1/2048. */
static double nmse_max(void)
{
    return precision == PRECISION_TF32 ? 1e-6 : 1e-10;
}

static float *filled(size_t count)
{
    float *values = memory_new(count + 1, sizeof *values);
    for (size_t i = 0; i < count; i++)
        values[i] = (float)(2 * rng_uniform(&rng) - 1);
    values[count] = NAN;
    return values;
}

/* Sum of squared differences, and sum of squared expected values. */
struct distance {
    double apart;
    double all;
};

static void compare(struct distance *distance, float got, double want)
{
    distance->apart += ((double)got - want) * ((double)got - want);
    distance->all += want * want;
}

static void check(struct distance distance)
{
    assert_true(distance.apart <= nmse_max() * distance.all + 1e-30);
}

static double activation_of(enum activation activation, double value)
{
    if (activation == RELU)
        return value > 0 ? value : 0;
    if (activation == SIGMOID)
        return 1 / (1 + exp(-value));
    return activation == TANH ? tanh(value) : value;
}

static double gradient_of(enum activation activation, double y)
{
    if (activation == RELU)
        return y > 0;
    if (activation == SIGMOID)
        return y * (1 - y);
    return activation == TANH ? 1 - y * y : 1;
}

static void check_y(struct dense_case c, enum activation activation, bool with_b,
                    const struct operands *o)
{
    struct distance distance = {0, 0};
    for (int i = 0; i < c.batch * c.out; i++) {
        const float *x = o->x + i / c.out * c.in, *w = o->w + i % c.out * c.in;
        double sum = with_b ? (double)o->b[i % c.out] : 0;
        for (int j = 0; j < c.in; j++)
            sum += (double)x[j] * (double)w[j];
        compare(&distance, o->y[i], activation_of(activation, sum));
    }
    check(distance);
    assert_true(isnan(o->y[c.batch * c.out]));
}

/* Checks dy and db after a backward pass. dy must have become the gradient of the activation's
 * input. db must be the sum of the new dy over the batch. */
static void check_dy(struct dense_case c, enum activation activation, const float *dy_before,
                     const float *db, const struct operands *o)
{
    struct distance of_dy = {0, 0}, of_db = {0, 0};
    for (int k = 0; k < c.out; k++) {
        double sum = 0;
        for (int i = k; i < c.batch * c.out; i += c.out) {
            compare(&of_dy, o->dy[i],
                    gradient_of(activation, (double)o->y[i]) * (double)dy_before[i]);
            sum += (double)o->dy[i];
        }
        if (db != NULL)
            compare(&of_db, db[k], sum);
    }
    check(of_dy);
    check(of_db);
    assert_true(isnan(o->dy[c.batch * c.out]) && isnan(o->db[c.out]));
}

static void check_dx(struct dense_case c, const struct operands *o)
{
    struct distance distance = {0, 0};
    double *sums = memory_new((size_t)c.in, sizeof *sums);
    for (int i = 0; i < c.batch; i++) {
        memset(sums, 0, (size_t)c.in * sizeof *sums);
        for (int k = 0; k < c.out; k++) {
            const double gradient = (double)o->dy[i * c.out + k];
            for (int j = 0; j < c.in; j++)
                sums[j] += gradient * (double)o->w[k * c.in + j];
        }
        for (int j = 0; j < c.in; j++)
            compare(&distance, o->dx[i * c.in + j], sums[j]);
    }
    check(distance);
    assert_true(isnan(o->dx[c.batch * c.in]));
    free(sums);
}

/* Checks dw. before: dw before the operation; NULL = 0. */
static void check_dw(struct dense_case c, const float *before, const struct operands *o)
{
    struct distance distance = {0, 0};
    double *sums = memory_new((size_t)c.in, sizeof *sums);
    for (int k = 0; k < c.out; k++) {
        for (int j = 0; j < c.in; j++)
            sums[j] = before != NULL ? (double)before[k * c.in + j] : 0;
        for (int i = 0; i < c.batch; i++) {
            const double gradient = (double)o->dy[i * c.out + k];
            for (int j = 0; j < c.in; j++)
                sums[j] += gradient * (double)o->x[i * c.in + j];
        }
        for (int j = 0; j < c.in; j++)
            compare(&distance, o->dw[k * c.in + j], sums[j]);
    }
    check(distance);
    assert_true(isnan(o->dw[c.out * c.in]));
    free(sums);
}

/* Fills the scratch buffer for rounded and padded operands with NaN. */
static void make_dirty(void)
{
    enum { BATCH = 300, IN = 1024 };
    float *x = memory_new(BATCH * IN, sizeof *x), *w = filled(IN), *y = filled(BATCH);
    for (int i = 0; i < BATCH * IN; i++)
        x[i] = NAN;
    backend->dense->forward(backend, BATCH, IN, 1, floats(x), floats(w), floats(NULL), LINEAR,
                            floats(y));
    assert_true(isnan(y[0]));
    free(x);
    free(w);
    free(y);
}

static void check_dense(struct dense_case c, enum activation activation, bool with_b, bool adds)
{
    const size_t in = (size_t)(c.batch * c.in), out = (size_t)(c.batch * c.out);
    const size_t weights = (size_t)(c.in * c.out), biases = (size_t)c.out;
    struct operands o = {filled(in),  filled(weights), filled(biases),  filled(out),
                         filled(out), filled(in),      filled(weights), filled(biases)};
    float *dy_before = filled(out), *dw_before = filled(weights);
    memcpy(dy_before, o.dy, out * sizeof *dy_before);
    memcpy(dw_before, o.dw, weights * sizeof *dw_before);
    float *db = with_b && !adds ? o.db : NULL;
    make_dirty();
    backend->dense->forward(backend, c.batch, c.in, c.out, floats(o.x), floats(o.w),
                            floats(with_b ? o.b : NULL), activation, floats(o.y));
    make_dirty();
    backend->dense->backward(backend, c.batch, c.in, c.out, floats(o.x), floats(o.w), floats(o.y),
                             activation, floats(o.dy), floats(o.dx), o.dw, db, adds);
    check_dy(c, activation, dy_before, db, &o);
    round_all(o.x, in);
    round_all(o.w, weights);
    round_all(o.dy, out);
    check_y(c, activation, with_b, &o);
    check_dx(c, &o);
    check_dw(c, adds ? dw_before : NULL, &o);
    float *all[] = {o.x, o.w, o.b, o.y, o.dy, o.dx, o.dw, o.db, dy_before, dw_before};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        free(all[i]);
}

/* Checks all cases with each activation, with and without biases. The last case uses only
 * three of these combinations. */
static void check_cases(enum precision in)
{
    precision = in;
    rng = rng_new(5, 5);
    struct backend *device = open_device_in(in);
    backend = host_backend(device);
    for (size_t i = 0; i < 8 * CASES; i++) {
        const size_t way = i % 8;
        if (i / 8 < CASES - 1 || way == 0 || way == 3 || way == 6)
            check_dense(cases[i / 8], activations[way / 2], way % 2, (way + i / 8) % 4 == 0);
    }
    device->close(device);
}

static void dense_in_float32_agrees_with_the_reference(void **state)
{
    (void)state;
    check_cases(PRECISION_FP32);
}

static void dense_in_tf32_agrees_but_for_rounding(void **state)
{
    (void)state;
    if (gpu_under_test < 0)
        skip();
    check_cases(PRECISION_TF32);
}

static void dense_in_bfloat16_agrees_with_rounded_operands(void **state)
{
    (void)state;
    if (gpu_under_test < 0)
        skip();
    check_cases(PRECISION_BF16);
}

static void check_nan(enum precision in, enum activation activation)
{
    enum { BATCH = 8, IN = 16, OUT = 24 };
    float x[BATCH * IN] = {NAN}, w[OUT * IN], b[OUT] = {0}, y[BATCH * OUT];
    for (int i = 0; i < OUT * IN; i++)
        w[i] = 1;
    struct backend *device = open_device_in(in);
    backend = host_backend(device);
    backend->dense->forward(backend, BATCH, IN, OUT, floats(x), floats(w), floats(b), activation,
                            floats(y));
    device->close(device);
    for (int i = 0; i < BATCH * OUT; i++)
        assert_true(!isnan(y[i]) == (i >= OUT));
}

static void nan_propagates(void **state)
{
    (void)state;
    const enum precision precisions[] = {PRECISION_FP32, PRECISION_TF32, PRECISION_BF16};
    for (size_t i = 0; i < 12; i++)
        check_nan(precisions[i / 4], activations[i % 4]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dense_in_float32_agrees_with_the_reference),
        cmocka_unit_test(dense_in_tf32_agrees_but_for_rounding),
        cmocka_unit_test(dense_in_bfloat16_agrees_with_rounded_operands),
        cmocka_unit_test(nan_propagates),
    };
    RUN_ON_EACH_DEVICE(tests, NULL, NULL);
}
