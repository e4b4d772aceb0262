/* Every operation of the CPU backend, but those of the exchange (test_threshold.c), against a
 * naive reference in double. Operations with a matrix product sum in another order than the
 * reference: they must agree to an NMSE of 1e-10; all others to 1e-12. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "host_backend.h"
#include "rng.h"

#define GEMM_NMSE 1e-10
#define LOOP_NMSE 1e-12
#define ROOM      8192 /* more entries than any case here needs */

static struct rng rng;

/* The operands of one case, and what the reference says. */
static float x[ROOM], w[ROOM], b[ROOM], y[ROOM], dx[ROOM], dy[ROOM], dw[ROOM], db[ROOM];
static double want_y[ROOM], want_dx[ROOM], want_dw[ROOM], want_db[ROOM];
static uint8_t winner[ROOM];

static void fill(float *values, size_t count)
{
    assert_true(count <= ROOM);
    for (size_t i = 0; i < count; i++)
        values[i] = (float)(2 * rng_uniform(&rng) - 1);
}

/* Fresh operands; results are NaN, so that one that is added to, or left out, is seen. */
static int case_begin(void **state)
{
    (void)state;
    rng = rng_new(7, 7);
    fill(x, ROOM);
    fill(w, ROOM);
    fill(b, ROOM);
    fill(dy, ROOM);
    for (int i = 0; i < ROOM; i++) {
        y[i] = dx[i] = dw[i] = db[i] = NAN;
        want_y[i] = want_dx[i] = want_dw[i] = want_db[i] = 0;
    }
    memset(winner, 0xFF, sizeof winner);
    return 0;
}

static void check_near(const float *got, const double *want, size_t count, double nmse_max)
{
    double error = 0, power = 0;
    for (size_t i = 0; i < count; i++) {
        error += ((double)got[i] - want[i]) * ((double)got[i] - want[i]);
        power += want[i] * want[i];
    }
    if (!(error <= nmse_max * power))
        fail_msg("error %g, power %g over %zu entries", error, power, count);
}

/* Round after round, so that what was given back dirty is taken again. */
static void taken_memory_is_zero_and_aligned_and_can_be_given_back(void **state)
{
    (void)state;
    const size_t sizes[] = {0, 1, 64, 65, 1000, 100000};
    for (size_t i = 0; i < 60; i++) {
        const size_t size = sizes[i % 6];
        static unsigned char seen[100000], dirt[100000];
        unsigned char *memory = backend->take(backend, size);
        assert_int_equal((uintptr_t)memory % 64, 0);
        backend->download(backend, seen, memory, size);
        for (size_t j = 0; j < size; j++)
            assert_int_equal(seen[j], 0);
        memset(dirt, 0xA5, size);
        backend->upload(backend, memory, dirt, size);
        backend->give(backend, memory);
    }
}

static void what_is_uploaded_comes_back_when_downloaded(void **state)
{
    (void)state;
    const char text[] = "there and back";
    char back[sizeof text] = "";
    char *memory = backend->take(backend, sizeof text);
    backend->upload(backend, memory, text, sizeof text);
    backend->download(backend, back, memory, sizeof text);
    assert_string_equal(back, text);
    backend->give(backend, memory);
}

struct dense_case {
    int batch, in, out;
};

static const struct dense_case dense_cases[] = {
    {1, 1, 1}, {1, 7, 3}, {3, 1, 5}, {3, 5, 1}, {3, 13, 11}, {32, 64, 33},
};
#define DENSE_CASES (sizeof dense_cases / sizeof dense_cases[0])

static void dense_reference(struct dense_case c)
{
    for (int i = 0; i < c.batch; i++) {
        for (int o = 0; o < c.out; o++) {
            double slope = dy[i * c.out + o];
            want_y[i * c.out + o] = b[o];
            want_db[o] += slope;
            for (int j = 0; j < c.in; j++) {
                want_y[i * c.out + o] += (double)x[i * c.in + j] * (double)w[o * c.in + j];
                want_dx[i * c.in + j] += slope * (double)w[o * c.in + j];
                want_dw[o * c.in + j] += slope * (double)x[i * c.in + j];
            }
        }
    }
}

static void check_dense(struct dense_case c, bool with_dx)
{
    dense_reference(c);
    backend->dense_forward(backend, c.batch, c.in, c.out, x, w, b, y);
    backend->dense_backward(backend, c.batch, c.in, c.out, x, w, dy, with_dx ? dx : NULL, dw, db);
    check_near(y, want_y, (size_t)(c.batch * c.out), GEMM_NMSE);
    check_near(dw, want_dw, (size_t)(c.out * c.in), GEMM_NMSE);
    check_near(db, want_db, (size_t)c.out, LOOP_NMSE);
    if (with_dx)
        check_near(dx, want_dx, (size_t)(c.batch * c.in), GEMM_NMSE);
}

static void dense_agrees_with_the_reference_with_and_without_dx(void **state)
{
    for (size_t i = 0; i < 2 * DENSE_CASES; i++) {
        case_begin(state);
        check_dense(dense_cases[i / 2], i % 2);
    }
}

struct conv_case {
    struct conv conv;
    int batch;
};

static const struct conv_case conv_cases[] = {
    {{{1, 1, 1}, 1, 1, 0}, 1},   {{{1, 5, 5}, 2, 5, 0}, 1}, {{{1, 5, 5}, 2, 5, 0}, 3},
    {{{3, 7, 6}, 4, 3, 1}, 3},   {{{2, 6, 5}, 3, 5, 2}, 3}, {{{1, 2, 2}, 1, 3, 2}, 3},
    {{{5, 4, 9}, 1, 1, 0}, 3},   {{{2, 9, 4}, 3, 4, 3}, 1}, {{{3, 1, 8}, 2, 3, 1}, 3},
    {{{4, 12, 12}, 8, 5, 2}, 3},
};
#define CONV_CASES (sizeof conv_cases / sizeof conv_cases[0])

/* One product of the sum: filter f, place (row, column) of the output, weight (c, i, j). */
static void conv_reference_term(const struct conv *conv, int image, int f, int row, int column,
                                int c, int i, int j)
{
    const struct shape in = conv->in, out = conv_output(conv);
    const int in_row = row + i - conv->pad, in_column = column + j - conv->pad;
    if (in_row < 0 || in_row >= in.height || in_column < 0 || in_column >= in.width)
        return;
    const int at_x = ((image * in.channels + c) * in.height + in_row) * in.width + in_column;
    const int at_y = ((image * conv->filters + f) * out.height + row) * out.width + column;
    const int at_w = ((f * in.channels + c) * conv->kernel + i) * conv->kernel + j;
    want_y[at_y] += (double)x[at_x] * (double)w[at_w];
    want_dx[at_x] += (double)dy[at_y] * (double)w[at_w];
    want_dw[at_w] += (double)dy[at_y] * (double)x[at_x];
}

static void conv_reference_place(const struct conv *conv, int at_y)
{
    const struct shape out = conv_output(conv);
    const int column = at_y % out.width, row = at_y / out.width % out.height;
    const int plane = at_y / out.width / out.height;
    const int f = plane % conv->filters, image = plane / conv->filters;
    want_y[at_y] = b[f];
    want_db[f] += dy[at_y];
    for (int c = 0; c < conv->in.channels; c++) {
        for (int i = 0; i < conv->kernel; i++) {
            for (int j = 0; j < conv->kernel; j++)
                conv_reference_term(conv, image, f, row, column, c, i, j);
        }
    }
}

static void conv_reference(const struct conv_case *c)
{
    const int outputs = c->batch * (int)shape_size(conv_output(&c->conv));
    for (int at_y = 0; at_y < outputs; at_y++)
        conv_reference_place(&c->conv, at_y);
}

static void check_conv(const struct conv_case *c, bool with_dx)
{
    const struct conv *conv = &c->conv;
    const size_t batch = (size_t)c->batch, filters = (size_t)conv->filters;
    const size_t patch = (size_t)(conv->in.channels * conv->kernel * conv->kernel);
    conv_reference(c);
    backend->conv_forward(backend, conv, c->batch, x, w, b, y);
    backend->conv_backward(backend, conv, c->batch, x, w, dy, with_dx ? dx : NULL, dw, db);
    check_near(y, want_y, batch * shape_size(conv_output(conv)), GEMM_NMSE);
    check_near(dw, want_dw, filters * patch, GEMM_NMSE);
    check_near(db, want_db, filters, GEMM_NMSE);
    if (with_dx)
        check_near(dx, want_dx, batch * shape_size(conv->in), GEMM_NMSE);
}

static void conv_agrees_with_the_reference_with_and_without_dx(void **state)
{
    for (size_t i = 0; i < 2 * CONV_CASES; i++) {
        case_begin(state);
        check_conv(&conv_cases[i / 2], i % 2);
    }
}

/* The room for patches is shared: a small layer after a large one finds it dirty. */
static void conv_does_not_depend_on_what_was_computed_before(void **state)
{
    for (size_t i = CONV_CASES; i-- > 0;) {
        case_begin(state);
        check_conv(&conv_cases[i], true);
    }
}

struct pool_case {
    struct pool pool;
    int batch;
};

static const struct pool_case pool_cases[] = {
    {{{1, 1, 1}, 1}, 1},   {{{2, 4, 4}, 1}, 3},  {{{1, 2, 2}, 2}, 1}, {{{3, 5, 7}, 2}, 3},
    {{{2, 28, 30}, 2}, 3}, {{{3, 7, 11}, 3}, 3}, {{{1, 5, 5}, 5}, 3}, {{{2, 17, 33}, 16}, 3},
};
#define POOL_CASES (sizeof pool_cases / sizeof pool_cases[0])

/* Where in x the window of output `at` has its place `place`. */
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
    backend->pool_forward(backend, pool, c->batch, x, y, winner);
    backend->pool_backward(backend, pool, c->batch, dy, winner, dx);
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

static double activation_reference(enum activation activation, double value)
{
    if (activation == RELU)
        return value > 0 ? value : 0;
    return activation == SIGMOID ? 1 / (1 + exp(-value)) : tanh(value);
}

static double activation_slope(enum activation activation, double value)
{
    if (activation == RELU)
        return value > 0 ? 1 : 0;
    double result = activation_reference(activation, value);
    return activation == SIGMOID ? result * (1 - result) : 1 - result * result;
}

static const enum activation activations[] = {RELU, SIGMOID, TANH};

static void activations_agree_with_the_reference(void **state)
{
    const size_t counts[] = {1, 3, 8, 1001};
    for (size_t i = 0; i < 12; i++) {
        const enum activation activation = activations[i % 3];
        const size_t count = counts[i / 3];
        case_begin(state);
        for (size_t j = 0; j < count; j++) {
            x[j] *= 4;
            want_y[j] = activation_reference(activation, (double)x[j]);
            want_dx[j] = activation_slope(activation, (double)x[j]) * (double)dy[j];
        }
        backend->activate(backend, activation, count, x, y);
        backend->activate_backward(backend, activation, count, y, dy, dx);
        check_near(y, want_y, count, LOOP_NMSE);
        check_near(dx, want_dx, count, LOOP_NMSE);
        assert_true(isnan(y[count]) && isnan(dx[count]));
    }
}

static void an_activation_may_overwrite_its_input(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        fill(x, 1001);
        backend->activate(backend, activations[i], 1001, x, y);
        backend->activate(backend, activations[i], 1001, x, x);
        assert_memory_equal(x, y, 1001 * sizeof *x);
    }
}

static void relu_lets_nan_through(void **state)
{
    (void)state;
    for (int i = 0; i < 9; i++)
        x[i] = i % 2 ? NAN : -1;
    backend->activate(backend, RELU, 9, x, y);
    for (int i = 0; i < 9; i++)
        assert_true(i % 2 ? isnan(y[i]) : y[i] == 0);
}

static void sigmoid_and_tanh_end_at_their_limits(void **state)
{
    (void)state;
    const float far[] = {-1000, 1000};
    backend->activate(backend, SIGMOID, 2, far, y);
    assert_true(y[0] == 0 && y[1] == 1);
    backend->activate(backend, TANH, 2, far, y);
    assert_true(y[0] == -1 && y[1] == 1);
}

/* Returns the sum of the losses; y are the logits, want_dx the slopes. */
static double cross_entropy_reference(int batch, int classes, const uint8_t *labels)
{
    double loss = 0;
    for (int i = 0; i < batch; i++) {
        const float *logits = y + i * classes;
        double sum = 0;
        for (int c = 0; c < classes; c++)
            sum += exp((double)logits[c]);
        loss += log(sum) - (double)logits[labels[i]];
        for (int c = 0; c < classes; c++)
            want_dx[i * classes + c] = (exp((double)logits[c]) / sum - (c == labels[i])) / batch;
    }
    return loss;
}

static void cross_entropy_agrees_with_the_reference(void **state)
{
    const struct {
        int batch, classes;
    } cases[] = {{1, 1}, {1, 2}, {3, 10}, {32, 10}, {3, 256}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const int batch = cases[i].batch, classes = cases[i].classes;
        uint8_t labels[32];
        struct score score = {.loss = 1000, .samples = 7, .correct = 5};
        case_begin(state);
        fill(y, (size_t)(batch * classes));
        for (int j = 0; j < batch; j++)
            labels[j] = (uint8_t)(classes - 1 - j % classes);
        double want = cross_entropy_reference(batch, classes, labels);
        backend->cross_entropy(backend, batch, classes, y, labels, dx, &score);
        assert_true(fabs(score.loss - 1000 - want) <= 1e-9 * (1 + want));
        assert_int_equal(score.samples, 7 + batch);
        check_near(dx, want_dx, (size_t)(batch * classes), LOOP_NMSE);
        struct score once = {0}, twice = {0};
        backend->cross_entropy(backend, batch, classes, y, labels, dx, &once);
        backend->cross_entropy(backend, batch, classes, y, labels, NULL, &twice);
        assert_memory_equal(&once, &twice, sizeof once);
        assert_int_equal(score.correct, 5 + once.correct);
    }
}

static void cross_entropy_counts_the_first_largest_logit(void **state)
{
    (void)state;
    const float logits[] = {1, 3, 2, /**/ 5, 5, 5, /**/ 0, 7, 7, /**/ -1, -2, -3};
    const uint8_t labels[] = {1, 1, 1, 2};
    struct score score = {0};
    backend->cross_entropy(backend, 4, 3, logits, labels, NULL, &score);
    assert_int_equal(score.correct, 2);
}

static void cross_entropy_survives_huge_logits(void **state)
{
    (void)state;
    const float logits[] = {10000, 0, /**/ -10000, -10000, /**/ 0, 10000};
    const uint8_t labels[] = {0, 1, 0};
    struct score score = {0};
    backend->cross_entropy(backend, 3, 2, logits, labels, dx, &score);
    assert_true(fabs(score.loss - (0 + log(2) + 10000)) < 1e-6);
    const double want[] = {0, 0, 0.5 / 3, -0.5 / 3, -1.0 / 3, 1.0 / 3};
    check_near(dx, want, 6, LOOP_NMSE);
    assert_int_equal(score.correct, 1);
}

static void sgd_reference(const struct sgd *sgd, size_t count, const double *g, double *weight,
                          double *m)
{
    for (size_t i = 0; i < count; i++) {
        double gradient = g[i] + (double)sgd->weight_decay * weight[i];
        m[i] = (double)sgd->momentum * m[i] + gradient;
        double step = sgd->nesterov ? gradient + (double)sgd->momentum * m[i] : m[i];
        weight[i] -= (double)sgd->rate * step;
    }
}

static void sgd_agrees_with_the_reference_over_three_steps(void **state)
{
    const struct sgd settings[] = {
        {.rate = 0.1f},
        {.rate = 0.1f, .momentum = 0.9f},
        {.rate = 0.1f, .momentum = 0.9f, .nesterov = true},
        {.rate = 0.1f, .weight_decay = 0.01f},
        {.rate = 0.01f, .momentum = 0.5f, .weight_decay = 0.1f, .nesterov = true},
    };
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        const size_t count = i == 0 ? 1 : 1003;
        case_begin(state);
        for (size_t j = 0; j < count; j++) {
            want_y[j] = w[j];
            want_dx[j] = x[j]; /* the gradient */
            want_dw[j] = b[j]; /* the momentum */
        }
        for (int step = 0; step < 3; step++) {
            backend->sgd(backend, &settings[i], count, w, x, b);
            sgd_reference(&settings[i], count, want_dx, want_y, want_dw);
        }
        check_near(w, want_y, count, LOOP_NMSE);
        check_near(b, want_dw, count, LOOP_NMSE);
    }
}

static void gather_picks_and_normalises(void **state)
{
    (void)state;
    const uint32_t pick[] = {3, 0, 3};
    uint8_t pixels[20], labels[] = {9, 8, 7, 6}, got[3];
    for (int i = 0; i < 20; i++)
        pixels[i] = (uint8_t)(i * 13);
    backend->gather(backend, 3, 5, pixels, labels, pick, 100.5f, 0.25f, y, got);
    for (size_t i = 0; i < 15; i++)
        want_y[i] = (pixels[pick[i / 5] * 5 + i % 5] - 100.5) * 0.25;
    check_near(y, want_y, 15, LOOP_NMSE);
    assert_memory_equal(got, ((uint8_t[]){6, 9, 6}), 3);
    assert_true(isnan(y[15]));
    memset(got, 0xFF, sizeof got);
    backend->gather(backend, 2, 1, pixels, labels, pick, 0, 1, y, got);
    assert_true(y[0] == pixels[3] && y[1] == pixels[0]);
    assert_memory_equal(got, ((uint8_t[]){6, 9, 0xFF}), 3);
}

static void the_same_call_gives_the_same_bits(void **state)
{
    (void)state;
    const struct conv_case *c = &conv_cases[CONV_CASES - 1];
    const size_t outputs = (size_t)c->batch * shape_size(conv_output(&c->conv));
    backend->conv_forward(backend, &c->conv, c->batch, x, w, b, y);
    backend->conv_backward(backend, &c->conv, c->batch, x, w, dy, NULL, dw, db);
    backend->conv_forward(backend, &c->conv, c->batch, x, w, b, dx);
    assert_memory_equal(y, dx, outputs * sizeof *y);
    backend->conv_backward(backend, &c->conv, c->batch, x, w, dy, NULL, dx, y);
    assert_memory_equal(dw, dx, (size_t)(8 * 4 * 5 * 5) * sizeof *dw);
    assert_memory_equal(db, y, 8 * sizeof *db);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, case_begin)
    const struct CMUnitTest tests[] = {
        TEST(taken_memory_is_zero_and_aligned_and_can_be_given_back),
        TEST(what_is_uploaded_comes_back_when_downloaded),
        TEST(dense_agrees_with_the_reference_with_and_without_dx),
        TEST(conv_agrees_with_the_reference_with_and_without_dx),
        TEST(conv_does_not_depend_on_what_was_computed_before),
        TEST(pool_agrees_with_the_reference),
        TEST(pool_gives_a_tie_to_the_first),
        TEST(activations_agree_with_the_reference),
        TEST(an_activation_may_overwrite_its_input),
        TEST(relu_lets_nan_through),
        TEST(sigmoid_and_tanh_end_at_their_limits),
        TEST(cross_entropy_agrees_with_the_reference),
        TEST(cross_entropy_counts_the_first_largest_logit),
        TEST(cross_entropy_survives_huge_logits),
        TEST(sgd_agrees_with_the_reference_over_three_steps),
        TEST(gather_picks_and_normalises),
        TEST(the_same_call_gives_the_same_bits),
    };
    RUN_ON_EACH_DEVICE(tests, host_backend_opens, host_backend_closes);
}
