/* Memory, matrix products, convolutions and pooling on every backend, compared with naive
 * references in double. A matrix product sums in another order than its reference, so an NMSE
 * (normalized mean squared error) of 1e-10 is allowed, and 1e-12 elsewhere. Other operations:
 * test_entries.c, test_adam.c, test_transformer.c, test_attention.c, test_exchange.c,
 * test_rebase.c. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/model/operands.h"

/* Allocates repeatedly, so that memory freed with other contents is reused. */
static void taken_memory_is_zero_and_aligned_and_can_be_given_back(void **state)
{
    (void)state;
    const size_t sizes[] = {0, 1, 64, 65, 1000, 100000};
    for (size_t i = 0; i < 60; i++) {
        const size_t size = sizes[i % 6];
        static unsigned char seen[100000], dirt[100000];
        unsigned char *memory = backend->alloc(backend, size);
        assert_int_equal((uintptr_t)memory % 64, 0);
        backend->download(backend, seen, memory, size);
        for (size_t j = 0; j < size; j++)
            assert_int_equal(seen[j], 0);
        memset(dirt, 0xA5, size);
        backend->upload(backend, memory, dirt, size);
        backend->free(backend, memory);
    }
}

static void an_upload_survives_the_round_trip(void **state)
{
    (void)state;
    const char text[] = "there and back";
    char back[sizeof text] = "";
    char *memory = backend->alloc(backend, sizeof text);
    backend->upload(backend, memory, text, sizeof text);
    backend->download(backend, back, memory, sizeof text);
    assert_string_equal(back, text);
    backend->free(backend, memory);
}

static void an_upload_copies_its_source_at_once(void **state)
{
    (void)state;
    static unsigned char sent[1 << 20], back[1 << 20];
    unsigned char *memory = backend->alloc(backend, sizeof sent);
    for (size_t size = 16; size <= sizeof sent; size *= 4) {
        for (unsigned char round = 1; round <= 20; round++) {
            memset(sent, round, size);
            backend->upload(backend, memory, sent, size);
            memset(sent, 0xFF, size);
        }
        backend->download(backend, back, memory, size);
        assert_true(back[0] == 20 && back[size / 2] == 20 && back[size - 1] == 20);
    }
    backend->free(backend, memory);
}

struct dense_case {
    int batch, in, out;
};

static const struct dense_case dense_cases[] = {
    {1, 1, 1},   {1, 7, 3},    {3, 1, 5},    {3, 5, 1},
    {3, 13, 11}, {32, 64, 33}, {131, 9, 37}, {600, 3, 13},
};
#define DENSE_CASES (sizeof dense_cases / sizeof dense_cases[0])

static const enum activation activations[] = {LINEAR, RELU, SIGMOID, TANH};

/* Computes one output and adds its part of the gradients. */
static void dense_reference_output(struct dense_case c, enum activation activation, int i, int o)
{
    const int at = i * c.out + o;
    double before = b[o];
    for (int j = 0; j < c.in; j++)
        before += (double)x[i * c.in + j] * (double)w[o * c.in + j];
    want_y[at] = activation_reference(activation, before);
    want_dy[at] = activation_gradient(activation, before) * (double)dy[at];
    want_db[o] += want_dy[at];
    for (int j = 0; j < c.in; j++) {
        want_dx[i * c.in + j] += want_dy[at] * (double)w[o * c.in + j];
        want_dw[o * c.in + j] += want_dy[at] * (double)x[i * c.in + j];
    }
}

static void dense_reference(struct dense_case c, enum activation activation)
{
    for (int i = 0; i < c.batch; i++) {
        for (int o = 0; o < c.out; o++)
            dense_reference_output(c, activation, i, o);
    }
}

/* The logits operation computes gradients of some rows at a time, and adds them to those of earlier
 * rows. */
static void a_dense_gradient_may_be_added_to_what_is_there(void **state)
{
    for (size_t i = 0; i < DENSE_CASES; i++) {
        const struct dense_case c = dense_cases[i];
        const size_t count = (size_t)(c.out * c.in);
        case_begin(state);
        memset(b, 0, sizeof b);
        dense_reference(c, LINEAR);
        for (size_t j = 0; j < count; j++) {
            dw[j] = w[j];
            want_dw[j] += (double)w[j];
        }
        backend->dense->backward(backend, c.batch, c.in, c.out, floats(x), floats(w), floats(y),
                                 LINEAR, floats(dy), floats(dx), dw, NULL, true);
        check_near(dw, want_dw, count, GEMM_NMSE);
        check_near(dx, want_dx, (size_t)(c.batch * c.in), GEMM_NMSE);
        assert_true(isnan(dw[count]));
    }
}

static void check_dense(struct dense_case c, enum activation activation, bool with_dx, bool with_b)
{
    for (int o = 0; o < c.out && !with_b; o++)
        b[o] = 0;
    dense_reference(c, activation);
    backend->dense->forward(backend, c.batch, c.in, c.out, floats(x), floats(w),
                            floats(with_b ? b : NULL), activation, floats(y));
    backend->dense->backward(backend, c.batch, c.in, c.out, floats(x), floats(w), floats(y),
                             activation, floats(dy), floats(with_dx ? dx : NULL), dw,
                             with_b ? db : NULL, false);
    check_near(y, want_y, (size_t)(c.batch * c.out), GEMM_NMSE);
    check_near(dy, want_dy, (size_t)(c.batch * c.out), GEMM_NMSE);
    check_near(dw, want_dw, (size_t)(c.out * c.in), GEMM_NMSE);
    if (with_b)
        check_near(db, want_db, (size_t)c.out, activation == LINEAR ? LOOP_NMSE : GEMM_NMSE);
    if (with_dx)
        check_near(dx, want_dx, (size_t)(c.batch * c.in), GEMM_NMSE);
}

static void dense_agrees_with_the_reference_with_and_without_dx(void **state)
{
    for (size_t i = 0; i < 8 * DENSE_CASES; i++) {
        case_begin(state);
        check_dense(dense_cases[i / 8], activations[i / 2 % 4], i % 2, true);
    }
}

static void dense_without_biases_agrees_with_the_reference(void **state)
{
    for (size_t i = 0; i < 4 * DENSE_CASES; i++) {
        case_begin(state);
        check_dense(dense_cases[i / 4], activations[i % 4], true, false);
    }
}

static float rounded(float value)
{
    /* spacing of bfloat16 numbers from 0.5 to 1, the range of `part` */
    const double half_way = ldexp(1, -8);
    int power;
    const double part = frexp((double)value, &power);
    return (float)ldexp(nearbyint(part / half_way) * half_way, power);
}

static void round_all(float *values)
{
    for (int i = 0; i < ROOM; i++)
        values[i] = rounded(values[i]);
}

/* Checks a dense layer with operands that bfloat16 must round, including ties. Biases and their
 * gradients are only added, so they are not rounded. */
static void check_rounded_dense(struct dense_case c, bool with_b)
{
    static float in[3][ROOM];
    float *const operands[3] = {x, w, dy};
    for (int i = 0; i < ROOM; i += 3)
        x[i] = w[i + 1] = 1 + (float)(2 * (i % 64) + 1) / 256;
    for (int i = 0; i < 3; i++) {
        memcpy(in[i], operands[i], sizeof in[i]);
        round_all(operands[i]);
    }
    const enum activation activation = with_b ? RELU : LINEAR;
    for (int o = 0; o < c.out && !with_b; o++)
        b[o] = 0;
    dense_reference(c, activation);
    backend->dense->forward(backend, c.batch, c.in, c.out, floats(in[0]), floats(in[1]),
                            floats(with_b ? b : NULL), activation, floats(y));
    backend->dense->backward(backend, c.batch, c.in, c.out, floats(in[0]), floats(in[1]), floats(y),
                             activation, floats(in[2]), floats(dx), dw, with_b ? db : NULL, false);
    check_near(y, want_y, (size_t)(c.batch * c.out), GEMM_NMSE);
    check_near(dw, want_dw, (size_t)(c.out * c.in), GEMM_NMSE);
    check_near(dx, want_dx, (size_t)(c.batch * c.in), GEMM_NMSE);
    for (int o = 0; o < c.out && with_b; o++) {
        double sum = 0;
        for (int i = 0; i < c.batch; i++)
            sum += (double)in[2][i * c.out + o];
        assert_true(fabs((double)db[o] - sum) < 1e-5);
    }
}

/* Opens the tested GPU a second time, in this precision. Returns the previous backend, which the
 * caller restores. */
static struct backend *opened_in(enum precision precision)
{
    struct backend *before = device_of_tests;
    if (gpu_under_test < 0)
        skip();
    backend = host_backend(open_device_in(precision));
    return before;
}

static void open_again(struct backend *before)
{
    device_of_tests->close(device_of_tests);
    backend = host_backend(before);
}

static void dense_in_bfloat16_multiplies_rounded_numbers(void **state)
{
    struct backend *before = opened_in(PRECISION_BF16);
    for (size_t i = 0; i < 2 * DENSE_CASES; i++) {
        case_begin(state);
        check_rounded_dense(dense_cases[i / 2], i % 2);
    }
    open_again(before);
}

static double gemm_nmse = GEMM_NMSE;

struct conv_case {
    struct conv conv;
    int batch;
};

static const struct conv_case conv_cases[] = {
    {{{1, 1, 1, 0}, 1, 1, 0, 1, 1}, 1},
    {{{1, 5, 5, 0}, 2, 5, 0, 1, 1}, 1},
    {{{1, 5, 5, 0}, 2, 5, 0, 1, 1}, 3},
    {{{3, 7, 6, 0}, 4, 3, 1, 1, 1}, 3},
    {{{2, 6, 5, 0}, 3, 5, 2, 1, 1}, 3},
    {{{1, 2, 2, 0}, 1, 3, 2, 1, 1}, 3},
    {{{5, 4, 9, 0}, 1, 1, 0, 1, 1}, 3},
    {{{2, 9, 4, 0}, 3, 4, 3, 1, 1}, 1},
    {{{3, 1, 8, 0}, 2, 3, 1, 1, 1}, 3},
    /* strides: without a remainder, with one, larger than the kernel, larger than the image */
    {{{2, 7, 9, 0}, 3, 3, 0, 2, 1}, 3},
    {{{3, 8, 6, 0}, 4, 3, 1, 2, 1}, 3},
    {{{4, 8, 7, 0}, 6, 1, 0, 2, 1}, 3},
    {{{1, 11, 12, 0}, 2, 5, 2, 3, 1}, 2},
    {{{2, 4, 5, 0}, 3, 2, 1, 9, 1}, 2},
    /* groups: of several channels, with more filters than channels, depthwise with and without
     * stride */
    {{{4, 5, 6, 0}, 6, 3, 1, 1, 2}, 3},
    {{{6, 4, 4, 0}, 3, 1, 0, 1, 3}, 3},
    {{{5, 6, 7, 0}, 5, 3, 1, 1, 5}, 3},
    {{{3, 9, 8, 0}, 6, 3, 1, 2, 3}, 2},
    {{{8, 6, 6, 0}, 4, 5, 2, 2, 4}, 2},
    /* more filters, channels and weights than fit in a tile on the CPU */
    {{{3, 6, 6, 0}, 15, 3, 1, 1, 1}, 3},
    {{{15, 6, 6, 0}, 3, 3, 1, 1, 1}, 3},
    {{{12, 5, 5, 0}, 3, 5, 2, 1, 1}, 3},
    {{{2, 14, 14, 0}, 5, 5, 2, 1, 1}, 3},
    /* more images than are computed at once, with a remainder */
    {{{1, 26, 26, 0}, 2, 3, 1, 1, 1}, 5},
    {{{1, 40, 40, 0}, 2, 3, 1, 2, 1}, 4},
    {{{1, 26, 26, 0}, 2, 1, 0, 1, 1}, 5},
    {{{1, 90, 60, 0}, 1, 3, 1, 1, 1}, 1},
    {{{4, 12, 12, 0}, 8, 5, 2, 1, 1}, 3},
    {{{1, 26, 26, 0}, 2, 1, 0, 1, 1}, 6},
};
#define CONV_CASES (sizeof conv_cases / sizeof conv_cases[0])

/* Returns the input index for one product of the convolution: filter f at (row, column) of the
 * output, with its weight `tap`. Returns -1 outside the image. *at_w: index of the weight. */
static int conv_reference_term(const struct conv *conv, int image, int row, int column, int f,
                               int tap, int *at_w)
{
    const struct shape in = conv->in;
    const int group = f / (conv->filters / conv->groups), sees = in.channels / conv->groups;
    const int c = group * sees + tap / (conv->kernel * conv->kernel);
    const int in_row = row * conv->stride + tap / conv->kernel % conv->kernel - conv->pad;
    const int in_column = column * conv->stride + tap % conv->kernel - conv->pad;
    *at_w = f * sees * conv->kernel * conv->kernel + tap;
    if (in_row < 0 || in_row >= in.height || in_column < 0 || in_column >= in.width)
        return -1;
    return ((image * in.channels + c) * in.height + in_row) * in.width + in_column;
}

static void conv_reference_place(const struct conv *conv, bool with_b, enum activation activation,
                                 int at_y)
{
    const struct shape out = conv_output(conv);
    const int column = at_y % out.width, row = at_y / out.width % out.height;
    const int plane = at_y / out.width / out.height;
    const int f = plane % conv->filters, image = plane / conv->filters;
    const int taps = conv->in.channels / conv->groups * conv->kernel * conv->kernel;
    double before = with_b ? b[f] : 0;
    int at_w, at_x;
    for (int tap = 0; tap < taps; tap++) {
        if ((at_x = conv_reference_term(conv, image, row, column, f, tap, &at_w)) >= 0)
            before += (double)x[at_x] * (double)w[at_w];
    }
    want_y[at_y] = activation_reference(activation, before);
    want_dy[at_y] = activation_gradient(activation, before) * (double)dy[at_y];
    want_db[f] += want_dy[at_y];
    for (int tap = 0; tap < taps; tap++) {
        if ((at_x = conv_reference_term(conv, image, row, column, f, tap, &at_w)) < 0)
            continue;
        want_dx[at_x] += want_dy[at_y] * (double)w[at_w];
        want_dw[at_w] += want_dy[at_y] * (double)x[at_x];
    }
}

static void check_conv(const struct conv_case *c, bool with_b, enum activation activation,
                       bool with_dx)
{
    const struct conv *conv = &c->conv;
    const size_t batch = (size_t)c->batch, filters = (size_t)conv->filters;
    const size_t patch = (size_t)(conv->in.channels / conv->groups * conv->kernel * conv->kernel);
    const size_t outputs = batch * shape_size(conv_output(conv));
    for (size_t at_y = 0; at_y < outputs; at_y++)
        conv_reference_place(conv, with_b, activation, (int)at_y);
    backend->conv->forward(backend, conv, c->batch, x, w, with_b ? b : NULL, activation, y);
    backend->conv->backward(backend, conv, c->batch, x, w, y, activation, dy, with_dx ? dx : NULL,
                            dw, with_b ? db : NULL);
    check_near(y, want_y, outputs, gemm_nmse);
    check_near(dy, want_dy, outputs, gemm_nmse);
    check_near(dw, want_dw, filters * patch, gemm_nmse);
    if (with_b)
        check_near(db, want_db, filters, gemm_nmse);
    if (with_dx)
        check_near(dx, want_dx, batch * shape_size(conv->in), gemm_nmse);
}

static void conv_agrees_with_the_reference_with_and_without_dx(void **state)
{
    for (size_t i = 0; i < 8 * CONV_CASES; i++) {
        case_begin(state);
        check_conv(&conv_cases[i / 8], true, activations[i / 2 % 4], i % 2);
    }
}

static void conv_without_biases_agrees_with_the_reference(void **state)
{
    for (size_t i = 0; i < 2 * CONV_CASES; i++) {
        case_begin(state);
        check_conv(&conv_cases[i / 2], false, i % 2 ? TANH : LINEAR, true);
    }
}

/* A TF32 mantissa has ten stored bits, so each factor has a relative error of at most 1/2048. */
static void conv_in_tf32_agrees_but_for_rounding(void **state)
{
    struct backend *before = opened_in(PRECISION_TF32);
    gemm_nmse = 1e-6;
    for (size_t i = 0; i < CONV_CASES; i++) {
        case_begin(state);
        check_conv(&conv_cases[i], true, LINEAR, true);
    }
    gemm_nmse = GEMM_NMSE;
    open_again(before);
}

/* All layers share a scratch buffer for patches. A small layer finds a large layer's contents in
 * it. */
static void conv_does_not_depend_on_what_was_computed_before(void **state)
{
    for (size_t i = CONV_CASES; i-- > 0;) {
        case_begin(state);
        check_conv(&conv_cases[i], true, LINEAR, true);
    }
}

struct pool_case {
    struct pool pool;
    int batch;
};

static const struct pool_case pool_cases[] = {
    {{{1, 1, 1, 0}, 1}, 1}, {{{2, 4, 4, 0}, 1}, 3},    {{{1, 2, 2, 0}, 2}, 1},
    {{{3, 5, 7, 0}, 2}, 3}, {{{2, 28, 30, 0}, 2}, 3},  {{{3, 7, 11, 0}, 3}, 3},
    {{{1, 5, 5, 0}, 5}, 3}, {{{2, 17, 33, 0}, 16}, 3},
};
#define POOL_CASES (sizeof pool_cases / sizeof pool_cases[0])

/* Returns the index in x of element `place` of the window of output `at`. */
static size_t pool_input(const struct pool *pool, size_t at, int place)
{
    const struct shape out = pool_output(pool);
    const size_t area = (size_t)(out.height * out.width);
    const size_t plane = at / area, row = at % area / (size_t)out.width;
    const size_t column = at % (size_t)out.width, window = (size_t)pool->window;
    return (plane * (size_t)pool->in.height + row * window + (size_t)place / window) *
               (size_t)pool->in.width +
           column * window + (size_t)place % window;
}

static void check_pool(const struct pool_case *c)
{
    const struct pool *pool = &c->pool;
    const size_t outputs = (size_t)c->batch * shape_size(pool_output(pool));
    backend->pool->forward(backend, pool, c->batch, x, y, winner);
    backend->pool->backward(backend, pool, c->batch, dy, winner, dx);
    for (size_t at = 0; at < outputs; at++) {
        int best = 0;
        for (int place = 1; place < pool->window * pool->window; place++) {
            if (x[pool_input(pool, at, place)] > x[pool_input(pool, at, best)])
                best = place;
        }
        assert_int_equal(winner[at], best);
        assert_true(y[at] == x[pool_input(pool, at, best)]);
        want_dx[pool_input(pool, at, best)] = dy[at];
    }
    const size_t inputs = (size_t)c->batch * shape_size(pool->in);
    for (size_t i = 0; i < inputs; i++)
        assert_true((double)dx[i] == want_dx[i]);
}

static void pool_agrees_with_the_reference(void **state)
{
    for (size_t i = 0; i < POOL_CASES; i++) {
        case_begin(state);
        check_pool(&pool_cases[i]);
    }
}

static void pool_gives_a_tie_to_the_first(void **state)
{
    for (size_t i = 0; i < POOL_CASES; i++) {
        case_begin(state);
        for (int j = 0; j < ROOM; j++)
            x[j] = (float)rng_below(&rng, 3);
        check_pool(&pool_cases[i]);
    }
}

static void the_same_call_gives_the_same_bits(void **state)
{
    (void)state;
    const struct conv_case *c = &conv_cases[CONV_CASES - 2];
    const size_t outputs = (size_t)c->batch * shape_size(conv_output(&c->conv));
    backend->conv->forward(backend, &c->conv, c->batch, x, w, b, TANH, y);
    backend->conv->backward(backend, &c->conv, c->batch, x, w, y, LINEAR, dy, NULL, dw, db);
    backend->conv->forward(backend, &c->conv, c->batch, x, w, b, TANH, dx);
    assert_memory_equal(y, dx, outputs * sizeof *y);
    backend->conv->backward(backend, &c->conv, c->batch, x, w, y, LINEAR, dy, NULL, dx, b);
    assert_memory_equal(dw, dx, (size_t)(8 * 4 * 5 * 5) * sizeof *dw);
    assert_memory_equal(db, b, 8 * sizeof *db);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, case_begin)
    const struct CMUnitTest tests[] = {
        TEST(taken_memory_is_zero_and_aligned_and_can_be_given_back),
        TEST(an_upload_survives_the_round_trip),
        TEST(an_upload_copies_its_source_at_once),
        TEST(a_dense_gradient_may_be_added_to_what_is_there),
        TEST(dense_agrees_with_the_reference_with_and_without_dx),
        TEST(dense_without_biases_agrees_with_the_reference),
        TEST(dense_in_bfloat16_multiplies_rounded_numbers),
        TEST(conv_agrees_with_the_reference_with_and_without_dx),
        TEST(conv_without_biases_agrees_with_the_reference),
        TEST(conv_in_tf32_agrees_but_for_rounding),
        TEST(conv_does_not_depend_on_what_was_computed_before),
        TEST(pool_agrees_with_the_reference),
        TEST(pool_gives_a_tie_to_the_first),
        TEST(the_same_call_gives_the_same_bits),
    };
    RUN_ON_EACH_DEVICE(tests, host_backend_opens, host_backend_closes);
}
