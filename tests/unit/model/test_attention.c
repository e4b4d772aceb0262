/* Attention and its rotary embedding on every backend, compared with a reference in double that
 * computes each head's whole matrix. On a GPU also in bfloat16, with operands that bfloat16
 * represents exactly. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/half.h"
#include "support/model/operands.h"

#define IN_MAX     72000
#define OUT_MAX    36000
#define LENGTH_MAX 130

struct attention_case {
    struct attention attention; /* length, heads, key-value heads, head size, first position */
    int batch;
};

/* Lengths around strips of 64 and 128, shared and unshared key-value heads, and heads of one tile
 * or more. */
static const struct attention_case cases[] = {
    {{1, 1, 1, 8, 0}, 1},   {{1, 4, 2, 8, 0}, 3},    {{2, 1, 1, 2, 0}, 1},
    {{63, 2, 2, 8, 0}, 2},  {{64, 2, 1, 32, 0}, 2},  {{65, 4, 2, 8, 0}, 1},
    {{65, 1, 1, 64, 0}, 1}, {{130, 3, 1, 40, 0}, 1}, {{130, 2, 2, 32, 0}, 2},
    {{129, 6, 2, 8, 0}, 2}, {{5, 2, 1, 80, 0}, 2},   {{66, 2, 1, 128, 0}, 1},
    {{3, 2, 2, 130, 0}, 2}, {{70, 2, 1, 256, 0}, 1}, {{4, 1, 1, 300, 0}, 2},
};
#define CASES (sizeof cases / sizeof cases[0])

/* Attention of later positions only: one, a few, or more than a strip of 64, within a strip or
 * across two strips. */
static const struct attention_case later[] = {
    {{1, 1, 1, 8, 0}, 1},      {{2, 1, 1, 2, 1}, 1},     {{64, 2, 2, 8, 63}, 2},
    {{65, 4, 2, 8, 64}, 1},    {{130, 3, 1, 40, 1}, 1},  {{130, 2, 2, 32, 67}, 2},
    {{129, 6, 2, 8, 128}, 2},  {{66, 2, 1, 128, 3}, 1},  {{80, 2, 2, 130, 79}, 1},
    {{130, 2, 1, 64, 129}, 1}, {{128, 2, 1, 16, 65}, 3},
};
#define LATER (sizeof later / sizeof later[0])

static float in[IN_MAX], out[OUT_MAX], gradient[OUT_MAX], in_gradient[IN_MAX], log_sums[OUT_MAX];
static double want_out[OUT_MAX], want_in_gradient[IN_MAX], want_log_sums[OUT_MAX];

/* true: the backend multiplies in bfloat16, so values between two products have 8 significant bits.
 */
static bool rounds;

static double nmse_max(void)
{
    return rounds ? 1e-5 : GEMM_NMSE;
}

static void draw(float *values, size_t count, double scale)
{
    for (size_t i = 0; i < count; i++) {
        const float value = (float)(scale * (2 * rng_uniform(&rng) - 1));
        values[i] = rounds ? half_of_bfloat16(half_to_bfloat16(value)) : value;
    }
}

static size_t inputs(const struct attention_case *c)
{
    return (size_t)(c->batch * c->attention.length) * attention_input(&c->attention);
}

static size_t outputs(const struct attention_case *c)
{
    return (size_t)(c->batch * c->attention.length) * attention_output(&c->attention);
}

static size_t sums(const struct attention_case *c)
{
    return (size_t)(c->batch * c->attention.length * c->attention.heads);
}

/* Draws new operands. steep: factor on the size of the scores. */
static void begin(const struct attention_case *c, double steep)
{
    assert_true(inputs(c) < IN_MAX && outputs(c) < OUT_MAX && sums(c) < OUT_MAX);
    assert_true(c->attention.length <= LENGTH_MAX);
    draw(in, IN_MAX, sqrt(steep));
    draw(gradient, OUT_MAX, 1);
    for (int i = 0; i < IN_MAX; i++) {
        want_in_gradient[i] = 0;
        in_gradient[i] = NAN;
    }
    for (int i = 0; i < OUT_MAX; i++)
        out[i] = log_sums[i] = NAN;
}

/* Offsets of one sample's head in the operands, the outputs and the log sums. */
struct place {
    size_t query, key, value, stride;
    size_t out, out_stride;
    size_t log_sums;
};

static struct place place_of(const struct attention *attention, size_t sample, size_t head)
{
    const size_t length = (size_t)attention->length, size = (size_t)attention->size;
    const size_t heads = (size_t)attention->heads, kv_heads = (size_t)attention->kv_heads;
    const size_t stride = attention_input(attention), first = sample * length * stride;
    const size_t shared = head * kv_heads / heads;
    return (struct place){.query = first + head * size,
                          .key = first + (heads + shared) * size,
                          .value = first + (heads + kv_heads + shared) * size,
                          .stride = stride,
                          .out = (sample * length * heads + head) * size,
                          .out_stride = heads * size,
                          .log_sums = (sample * heads + head) * length};
}

static double dot(const float *left, const float *right, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += (double)left[i] * (double)right[i];
    return sum;
}

/* Computes share[key], the softmax, and the output for the query at position `row`. */
static void reference_row(const struct attention *attention, const struct place *at, size_t row,
                          double *share)
{
    const int size = attention->size;
    double sum = 0, top = -INFINITY;
    for (size_t key = 0; key <= row; key++) {
        share[key] = dot(in + at->query + row * at->stride, in + at->key + key * at->stride, size);
        share[key] /= sqrt(size);
        top = fmax(top, share[key]);
    }
    for (size_t key = 0; key <= row; key++)
        sum += share[key] = exp(share[key] - top);
    want_log_sums[at->log_sums + row] = top + log(sum);
    for (int i = 0; i < size; i++)
        want_out[at->out + row * at->out_stride + (size_t)i] = 0;
    for (size_t key = 0; key <= row; key++) {
        share[key] /= sum;
        for (int i = 0; i < size; i++)
            want_out[at->out + row * at->out_stride + (size_t)i] +=
                share[key] * (double)in[at->value + key * at->stride + (size_t)i];
    }
}

/* Adds the gradients of one query, and of the keys and values that it sees. */
static void reference_row_backward(const struct attention *attention, const struct place *at,
                                   size_t row, const double *share)
{
    const int size = attention->size;
    const float *from = gradient + at->out + row * at->out_stride;
    double of_share[LENGTH_MAX], mean = 0;
    for (size_t key = 0; key <= row; key++) {
        of_share[key] = dot(from, in + at->value + key * at->stride, size);
        mean += share[key] * of_share[key];
    }
    for (size_t key = 0; key <= row; key++) {
        const double of_score = share[key] * (of_share[key] - mean) / sqrt(size);
        for (size_t i = 0; i < (size_t)size; i++) {
            const size_t query = at->query + row * at->stride + i;
            const size_t shared = key * at->stride + i;
            want_in_gradient[query] += of_score * (double)in[at->key + shared];
            want_in_gradient[at->key + shared] += of_score * (double)in[query];
            want_in_gradient[at->value + shared] += share[key] * (double)from[i];
        }
    }
}

static void reference(const struct attention_case *c)
{
    const struct attention *attention = &c->attention;
    for (int sample = 0; sample < c->batch; sample++)
        for (int head = 0; head < attention->heads; head++) {
            const struct place at = place_of(attention, (size_t)sample, (size_t)head);
            for (int row = 0; row < attention->length; row++) {
                double share[LENGTH_MAX];
                reference_row(attention, &at, (size_t)row, share);
                reference_row_backward(attention, &at, (size_t)row, share);
            }
        }
}

static void run(const struct attention_case *c)
{
    backend->attention->forward(backend, &c->attention, c->batch, floats(in), floats(out),
                                log_sums);
    backend->attention->backward(backend, &c->attention, c->batch, floats(in), floats(out),
                                 log_sums, floats(gradient), floats(in_gradient));
}

static void check(const struct attention_case *c)
{
    reference(c);
    run(c);
    check_near(out, want_out, outputs(c), nmse_max());
    for (size_t i = 0; i < sums(c); i++)
        assert_true(fabs((double)log_sums[i] - want_log_sums[i]) < 1e-5);
    check_near(in_gradient, want_in_gradient, inputs(c), nmse_max());
    assert_true(isnan(out[outputs(c)]) && isnan(log_sums[sums(c)]) &&
                isnan(in_gradient[inputs(c)]));
}

static void attention_agrees_with_the_reference(void **state)
{
    (void)state;
    for (size_t i = 0; i < CASES; i++) {
        begin(&cases[i], 8);
        check(&cases[i]);
    }
}

/* Checks also that nothing is written for positions before the first one. */
static void attention_of_later_positions_agrees_with_the_reference(void **state)
{
    (void)state;
    for (size_t i = 0; i < LATER; i++) {
        const struct attention_case *c = &later[i];
        const size_t length = (size_t)c->attention.length, from = (size_t)c->attention.from;
        const size_t width = attention_output(&c->attention), heads = (size_t)c->attention.heads;
        begin(c, 8);
        reference(c);
        backend->attention->forward(backend, &c->attention, c->batch, floats(in), floats(out),
                                    log_sums);
        for (size_t sample = 0; sample < (size_t)c->batch; sample++) {
            const size_t first = sample * length * width, seen = from * width;
            for (size_t j = 0; j < seen; j++)
                assert_true(isnan(out[first + j]));
            check_near(out + first + seen, want_out + first + seen, length * width - seen,
                       nmse_max());
        }
        for (size_t j = 0; j < (size_t)c->batch * heads * length; j++)
            assert_true(j % length < from ? isnan(log_sums[j])
                                          : fabs((double)log_sums[j] - want_log_sums[j]) < 1e-5);
        assert_true(isnan(out[outputs(c)]) && isnan(log_sums[sums(c)]));
    }
}

/* Compares gradients of queries, keys and values separately, so that large ones do not hide small
 * ones. */
static void each_gradient_of_attention_agrees_with_the_reference(void **state)
{
    (void)state;
    const struct attention_case c = {{67, 4, 2, 16, 0}, 2};
    const size_t rows = 2 * 67, size = 16, stride = attention_input(&c.attention);
    static float got[2 * 67 * 16];
    static double want[2 * 67 * 16];
    begin(&c, 8);
    reference(&c);
    run(&c);
    for (size_t head = 0; head < 4 + 2 * 2; head++) {
        for (size_t i = 0; i < rows * size; i++) {
            got[i] = in_gradient[i / size * stride + head * size + i % size];
            want[i] = want_in_gradient[i / size * stride + head * size + i % size];
        }
        check_near(got, want, rows * size, nmse_max());
    }
}

static void attention_survives_large_scores(void **state)
{
    (void)state;
    const struct attention_case c = {{130, 2, 1, 8, 0}, 1};
    begin(&c, 8);
    for (size_t i = 0; i < inputs(&c); i++)
        in[i] = in[i] < 0 ? -16 : 16; /* products are exact, and scores reach 724 */
    reference(&c);
    run(&c);
    for (size_t i = 0; i < outputs(&c); i++)
        assert_true(fabs((double)out[i] - want_out[i]) < (rounds ? 0.1 : 1e-3));
    for (size_t i = 0; i < inputs(&c); i++)
        assert_true(isfinite(in_gradient[i]));
}

static void a_position_does_not_see_those_after_it(void **state)
{
    (void)state;
    const struct attention_case c = {{100, 2, 1, 8, 0}, 1};
    const size_t seen = 70;
    static float before[OUT_MAX];
    begin(&c, 8);
    run(&c);
    memcpy(before, out, sizeof before);
    draw(in + seen * attention_input(&c.attention), 1000, 1);
    run(&c);
    const size_t same = seen * attention_output(&c.attention);
    assert_memory_equal(out, before, same * sizeof *out);
    assert_true(memcmp(out + same, before + same, 16 * sizeof *out) != 0);
}

static void attention_gives_the_same_bits_each_time(void **state)
{
    (void)state;
    static float before[IN_MAX];
    const struct attention_case *c = &cases[9];
    begin(c, 8);
    run(c);
    memcpy(before, in_gradient, sizeof before);
    run(c);
    assert_memory_equal(in_gradient, before, inputs(c) * sizeof *before);
}

static void reference_turn(const struct attention *attention, int batch)
{
    const size_t size = (size_t)attention->size, half = size / 2;
    const size_t stride = attention_input(attention);
    const size_t turned = (size_t)(attention->heads + attention->kv_heads) * size;
    for (size_t row = 0; row < (size_t)(batch * attention->length); row++)
        for (size_t i = 0; i < stride; i++) {
            const size_t at = row * stride + i, number = i % size;
            const double position = (double)(row % (size_t)attention->length);
            const double angle = position / pow(10000, (double)(number % half) / (double)half);
            const double own = in[at];
            if (i >= turned || position < attention->from)
                want_in_gradient[at] = own;
            else if (number < half)
                want_in_gradient[at] = own * cos(angle) - (double)in[at + half] * sin(angle);
            else
                want_in_gradient[at] = own * cos(angle) + (double)in[at - half] * sin(angle);
        }
}

static void rotation_agrees_with_the_reference_and_can_be_undone(void **state)
{
    (void)state;
    for (size_t i = 0; i < CASES; i++) {
        const struct attention_case *c = &cases[i];
        const struct attention *attention = &c->attention;
        static double before[IN_MAX];
        begin(c, 1);
        reference_turn(attention, c->batch);
        for (size_t j = 0; j < inputs(c); j++)
            before[j] = (double)in[j];
        backend->attention->rotate(backend, attention, c->batch, 1, floats(in));
        check_near(in, want_in_gradient, inputs(c), LOOP_NMSE);
        backend->attention->rotate(backend, attention, c->batch, -1, floats(in));
        check_near(in, before, inputs(c), LOOP_NMSE);
    }
}

static void rotation_of_later_positions_agrees_with_the_reference(void **state)
{
    (void)state;
    for (size_t i = 0; i < LATER; i++) {
        const struct attention_case *c = &later[i];
        begin(c, 1);
        reference_turn(&c->attention, c->batch);
        backend->attention->rotate(backend, &c->attention, c->batch, 1, floats(in));
        check_near(in, want_in_gradient, inputs(c), LOOP_NMSE);
    }
}

static void rotation_leaves_values_and_the_first_position_alone(void **state)
{
    (void)state;
    const struct attention_case c = {{5, 3, 1, 8, 0}, 2};
    const size_t stride = attention_input(&c.attention);
    begin(&c, 1);
    memcpy(in_gradient, in, sizeof in);
    backend->attention->rotate(backend, &c.attention, c.batch, 1, floats(in));
    for (size_t row = 0; row < 10; row++) {
        const size_t alone = row % 5 == 0 ? 0 : 4 * 8, first = row * stride;
        assert_memory_equal(in + first + alone, in_gradient + first + alone,
                            (stride - alone) * sizeof *in);
        assert_true(row % 5 == 0 || in[first] != in_gradient[first]);
    }
}

static int rounded_opens(void **state)
{
    (void)state;
    rounds = gpu_under_test >= 0;
    numbers_under_test = rounds ? BFLOAT16 : FLOAT32;
    backend = host_backend(open_device_in(PRECISION_BF16));
    return 0;
}

static int run_in(CMFixtureFunction opens)
{
#define TEST(name) cmocka_unit_test_setup(name, case_begin)
    const struct CMUnitTest tests[] = {
        TEST(attention_agrees_with_the_reference),
        TEST(attention_of_later_positions_agrees_with_the_reference),
        TEST(each_gradient_of_attention_agrees_with_the_reference),
        TEST(attention_survives_large_scores),
        TEST(a_position_does_not_see_those_after_it),
        TEST(attention_gives_the_same_bits_each_time),
        TEST(rotation_agrees_with_the_reference_and_can_be_undone),
        TEST(rotation_of_later_positions_agrees_with_the_reference),
        TEST(rotation_leaves_values_and_the_first_position_alone),
    };
    RUN_ON_EACH_DEVICE(tests, opens, host_backend_closes);
}

int main(void)
{
    const int exact = run_in(host_backend_opens);
    return exact + run_in(rounded_opens);
}
