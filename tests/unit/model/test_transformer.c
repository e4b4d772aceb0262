/* Operations on sequences except matrix products and attention, on every backend, compared with
 * naive references in double. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/model/operands.h"

struct embed_case {
    size_t rows;
    int size;
    int tokens; /* number of different tokens */
};

/* One token only, each token about once, and tokens that occur again after more rows than a warp
 * has threads. */
static const struct embed_case embed_cases[] = {
    {1, 1, 1}, {7, 3, 1}, {33, 5, 2}, {100, 7, 90}, {100, 40, 9}, {200, 33, 200},
};
#define EMBED_CASES (sizeof embed_cases / sizeof embed_cases[0])

/* mask of the first 16 numbers, computed by another implementation */
#define DROPPED_OF_16 0xA676

static int32_t token[256];

static void draw_tokens(const struct embed_case *c)
{
    for (size_t row = 0; row < c->rows; row++)
        token[row] = (int32_t)rng_below(&rng, (uint32_t)c->tokens);
}

static void embedding_looks_rows_up(void **state)
{
    for (size_t i = 0; i < EMBED_CASES; i++) {
        const struct embed_case *c = &embed_cases[i];
        const size_t size = (size_t)c->size;
        case_begin(state);
        draw_tokens(c);
        backend->sequence->embed(backend, c->rows, c->size, token, floats(w), floats(y));
        for (size_t row = 0; row < c->rows; row++)
            assert_memory_equal(y + row * size, w + (size_t)token[row] * size, size * sizeof *w);
        assert_true(isnan(y[c->rows * size]));
    }
}

/* Gradients are added in the order of rows, so results are equal bit for bit. */
static void gradients_are_added_to_the_rows_of_their_tokens(void **state)
{
    for (size_t i = 0; i < EMBED_CASES; i++) {
        const struct embed_case *c = &embed_cases[i];
        const size_t size = (size_t)c->size;
        case_begin(state);
        draw_tokens(c);
        memcpy(x, w, sizeof x);
        for (size_t j = 0; j < c->rows * size; j++)
            x[(size_t)token[j / size] * size + j % size] += dy[j];
        backend->sequence->embed_backward(backend, c->rows, c->size, token, floats(dy), w);
        assert_memory_equal(w, x, sizeof x);
    }
}

static void shared_numbers_are_added_to_each_sample_and_their_gradients_summed(void **state)
{
    const struct {
        int batch;
        size_t count;
    } cases[] = {{1, 1}, {1, 300}, {3, 1}, {5, 1001}};
    for (size_t i = 0; i < 4; i++) {
        const size_t count = cases[i].count, all = (size_t)cases[i].batch * count;
        case_begin(state);
        for (size_t j = 0; j < all; j++) {
            want_y[j] = (double)x[j] + (double)b[j % count];
            want_db[j % count] += (double)dy[j];
        }
        backend->elements->add_shared(backend, cases[i].batch, count, floats(x), b, floats(y));
        backend->elements->sum_shared(backend, cases[i].batch, count, floats(dy), db);
        check_near(y, want_y, all, LOOP_NMSE);
        check_near(db, want_db, count, LOOP_NMSE);
        assert_true(isnan(y[all]) && isnan(db[count]));
    }
}

static void numbers_are_added_copied_and_cleared(void **state)
{
    const size_t counts[] = {1, 255, 1001, 5000};
    for (size_t i = 0; i < 4; i++) {
        const size_t count = counts[i];
        case_begin(state);
        backend->elements->add(backend, count, floats(x), floats(w), floats(y));
        backend->elements->copy(backend, count, floats(x), floats(dx));
        assert_memory_equal(dx, x, count * sizeof *x);
        for (size_t j = 0; j < count; j++)
            assert_true(y[j] == number_rounded(x[j] + w[j]));
        backend->elements->add(backend, count, floats(x), floats(w), floats(x));
        assert_memory_equal(x, y, count * sizeof *x);
        backend->elements->add(backend, count, floats(dx), floats(w), floats(w));
        assert_memory_equal(w, y, count * sizeof *w);
        backend->elements->clear(backend, count, w);
        for (size_t j = 0; j < count; j++)
            assert_true(w[j] == 0);
        assert_true(isnan(y[count]) && isnan(dx[count]) && w[count] != 0);
    }
}

/* Remaining numbers are scaled up, so the mean stays about the same. */
static void dropout_drops_its_part_and_keeps_the_mean(void **state)
{
    case_begin(state);
    const struct dropout dropout = {.batch = 2, .size = 4000, .rate = 0.25f, .layer = 3};
    const uint32_t draws[] = {17, 18};
    const float exact = numbers_under_test == BFLOAT16 ? 0x1p-7f : 1e-6f;
    size_t dropped[2] = {0}, alike = 0;
    backend->elements->drop(backend, &dropout, draws, floats(x), floats(y));
    for (size_t i = 0; i < 8000; i++) {
        dropped[i / 4000] += y[i] == 0;
        assert_true(y[i] == 0 || fabsf(y[i] - x[i] / 0.75f) <= exact * fabsf(x[i]));
    }
    for (size_t i = 0; i < 4000; i++)
        alike += (y[i] == 0) == (y[4000 + i] == 0);
    assert_in_range(dropped[0], 900, 1100);
    assert_in_range(dropped[1], 900, 1100);
    /* by chance, masks agree in 10 of 16 numbers: 0.75² + 0.25² */
    assert_in_range(alike, 2350, 2650);
    assert_true(isnan(y[8000]));
}

static void dropout_masks_depend_only_on_draw_and_layer(void **state)
{
    static float again[ROOM];
    const uint32_t draws[] = {5, 99, 5};
    struct dropout dropout = {.batch = 3, .size = 700, .rate = 0.5f, .layer = 1};
    case_begin(state);
    for (size_t i = 0; i < 2100; i++)
        x[i] = 1;
    backend->elements->drop(backend, &dropout, draws, floats(x), floats(y));
    assert_memory_equal(y, y + 1400, 700 * sizeof *y);
    assert_memory_not_equal(y, y + 700, 700 * sizeof *y);
    dropout.batch = 1;
    backend->elements->drop(backend, &dropout, draws + 1, floats(x), floats(again));
    assert_memory_equal(again, y + 700, 700 * sizeof *y);
    dropout.layer = 2;
    backend->elements->drop(backend, &dropout, draws + 1, floats(x), floats(again));
    assert_memory_not_equal(again, y + 700, 700 * sizeof *y);
    /* all devices have this mask for the first 16 numbers */
    uint32_t seen = 0;
    for (uint32_t i = 0; i < 16; i++)
        seen |= (uint32_t)(y[i] == 0) << i;
    assert_int_equal(seen, DROPPED_OF_16);
}

struct norm_case {
    size_t rows;
    int size;
};

static const struct norm_case norm_cases[] = {
    {1, 1}, {1, 8}, {3, 31}, {70, 33}, {4, 768}, {300, 20},
};
#define NORM_CASES (sizeof norm_cases / sizeof norm_cases[0])

static float stats[2 * 300 + 1];

static void norm_reference_row(size_t row, size_t size, bool with_b)
{
    const size_t at = row * size;
    double mean = 0, square = 0, gradients = 0, along = 0;
    for (size_t i = 0; i < size && with_b; i++)
        mean += (double)x[at + i] / (double)size;
    for (size_t i = 0; i < size; i++)
        square += pow((double)x[at + i] - mean, 2) / (double)size;
    const double scale = 1 / sqrt(square + 1e-5);
    assert_true(fabs((double)stats[2 * row] - mean) <= 1e-6 * (1 + fabs(mean)));
    assert_true(fabs((double)stats[2 * row + 1] - scale) <= 1e-5 * scale);
    for (size_t i = 0; i < size; i++) {
        const double n = ((double)x[at + i] - mean) * scale, own = (double)dy[at + i];
        want_y[at + i] = n * (double)w[i] + (with_b ? (double)b[i] : 0);
        want_dw[i] += own * n;
        want_db[i] += own;
        gradients += own * (double)w[i] / (double)size;
        along += own * (double)w[i] * n / (double)size;
    }
    for (size_t i = 0; i < size; i++) {
        const double n = ((double)x[at + i] - mean) * scale;
        const double own = (double)dy[at + i] * (double)w[i] - (with_b ? gradients : 0);
        want_dx[at + i] = scale * (own - n * along);
    }
}

static void check_norm(const struct norm_case *c, bool with_b, double nmse)
{
    const size_t size = (size_t)c->size, all = c->rows * size;
    stats[2 * c->rows] = NAN;
    backend->sequence->norm(backend, c->rows, c->size, floats(x), w, with_b ? b : NULL, floats(y),
                            stats);
    backend->sequence->norm_backward(backend, c->rows, c->size, floats(x), w, stats, floats(dy),
                                     floats(NULL), floats(dx), dw, with_b ? db : NULL);
    for (size_t row = 0; row < c->rows; row++)
        norm_reference_row(row, size, with_b);
    check_near(y, want_y, all, nmse);
    if (c->size > 1) /* for size 1 the gradient is zero except for rounding */
        check_near(dx, want_dx, all, nmse);
    check_near(dw, want_dw, size, nmse);
    if (with_b)
        check_near(db, want_db, size, nmse);
    assert_true(isnan(y[all]) && isnan(dx[all]) && isnan(dw[size]) && isnan(stats[2 * c->rows]));
    assert_true(isnan(db[with_b ? size : 0]));
}

static void norms_agree_with_the_reference_with_and_without_b(void **state)
{
    for (size_t i = 0; i < 2 * NORM_CASES; i++) {
        case_begin(state);
        check_norm(&norm_cases[i / 2], i % 2, LOOP_NMSE);
    }
}

/* Numbers are large relative to their differences, for which few bits remain. */
static void a_large_mean_does_not_drown_the_deviations(void **state)
{
    case_begin(state);
    if (numbers_under_test == BFLOAT16)
        skip(); /* bfloat16 has too few bits for such differences */
    for (int i = 0; i < 70 * 33; i++)
        x[i] += 1000;
    check_norm(&(struct norm_case){70, 33}, true, 1e-8);
}

static void swiglu_agrees_with_the_reference(void **state)
{
    const struct {
        size_t rows;
        int size;
    } cases[] = {{1, 1}, {3, 5}, {7, 100}, {40, 33}};
    for (size_t i = 0; i < 4; i++) {
        const size_t size = (size_t)cases[i].size, all = cases[i].rows * size;
        case_begin(state);
        for (size_t j = 0; j < all; j++) {
            const size_t own = j / size * 2 * size + j % size, other = own + size;
            x[own] *= 4; /* the factor 4 is exact in both types */
            const double at = (double)x[own], silu = activation_reference(SILU, at);
            want_y[j] = silu * (double)x[other];
            want_dx[own] = (double)dy[j] * (double)x[other] * activation_gradient(SILU, at);
            want_dx[other] = (double)dy[j] * silu;
        }
        backend->sequence->swiglu(backend, cases[i].rows, cases[i].size, floats(x), floats(y));
        backend->sequence->swiglu_backward(backend, cases[i].rows, cases[i].size, floats(x),
                                           floats(dy), floats(dx));
        check_near(y, want_y, all, LOOP_NMSE);
        check_near(dx, want_dx, 2 * all, LOOP_NMSE);
        assert_true(isnan(y[all]) && isnan(dx[2 * all]));
    }
}

static void a_long_gradient_is_cut_to_length_and_a_short_one_left_alone(void **state)
{
    const size_t counts[] = {1, 33, 4097, 8000};
    for (size_t i = 0; i < 4; i++) {
        const size_t count = counts[i];
        double square = 0;
        case_begin(state);
        for (size_t j = 0; j < count; j++)
            square += (double)x[j] * (double)x[j];
        const double length = sqrt(square);
        const float more = (float)(length * 1.001), less = (float)(length * 0.999);
        float factor = 0;
        backend->optimize->clip(backend, &more, count, x, &factor);
        assert_true(factor == 1);
        backend->optimize->clip(backend, &less, count, x, &factor);
        assert_true(fabs((double)factor - (double)less / length) <= 1e-6);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, case_begin)
    const struct CMUnitTest tests[] = {
        TEST(embedding_looks_rows_up),
        TEST(gradients_are_added_to_the_rows_of_their_tokens),
        TEST(shared_numbers_are_added_to_each_sample_and_their_gradients_summed),
        TEST(numbers_are_added_copied_and_cleared),
        TEST(dropout_drops_its_part_and_keeps_the_mean),
        TEST(dropout_masks_depend_only_on_draw_and_layer),
        TEST(norms_agree_with_the_reference_with_and_without_b),
        TEST(a_large_mean_does_not_drown_the_deviations),
        TEST(swiglu_agrees_with_the_reference),
        TEST(a_long_gradient_is_cut_to_length_and_a_short_one_left_alone),
    };
    RUN_IN_BOTH_TYPES(tests);
}
