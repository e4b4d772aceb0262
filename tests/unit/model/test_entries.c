/* Operations on single entries (activations, losses, SGD), compared with naive references in
 * double. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/model/operands.h"

static const enum activation activations[] = {LINEAR, RELU, SIGMOID, TANH, GELU, SILU};
#define ACTIVATIONS (sizeof activations / sizeof activations[0])

static void activations_agree_with_the_reference(void **state)
{
    const size_t counts[] = {1, 3, 8, 1001};
    for (size_t i = 0; i < 4 * ACTIVATIONS; i++) {
        const enum activation activation = activations[i % ACTIVATIONS];
        const size_t count = counts[i / ACTIVATIONS];
        case_begin(state);
        for (size_t j = 0; j < count; j++) {
            /* A bfloat16 output near 1 has few significant bits, so its inputs are small. */
            x[j] *= numbers_under_test == BFLOAT16 ? 1 : 4;
            want_y[j] = activation_reference(activation, (double)x[j]);
            want_dx[j] = activation_gradient(activation, (double)x[j]) * (double)dy[j];
        }
        backend->activation->forward(backend, activation, count, floats(x), floats(y));
        backend->activation->backward(backend, activation, count,
                                      floats(activation_keeps_input(activation) ? x : y),
                                      floats(dy), floats(dx));
        check_near(y, want_y, count, LOOP_NMSE);
        check_near(dx, want_dx, count, LOOP_NMSE);
        assert_true(isnan(y[count]) && isnan(dx[count]));
    }
}

static void an_activation_may_overwrite_its_input(void **state)
{
    (void)state;
    for (size_t i = 0; i < ACTIVATIONS; i++) {
        fill(x, 1001);
        backend->activation->forward(backend, activations[i], 1001, floats(x), floats(y));
        backend->activation->forward(backend, activations[i], 1001, floats(x), floats(x));
        assert_memory_equal(x, y, 1001 * sizeof *x);
        backend->activation->backward(backend, activations[i], 1001, floats(y), floats(dy),
                                      floats(dx));
        backend->activation->backward(backend, activations[i], 1001, floats(y), floats(dy),
                                      floats(dy));
        assert_memory_equal(dx, dy, 1001 * sizeof *dx);
    }
}

static void relu_lets_nan_through(void **state)
{
    (void)state;
    for (int i = 0; i < 9; i++)
        x[i] = i % 2 ? NAN : -1;
    backend->activation->forward(backend, RELU, 9, floats(x), floats(y));
    for (int i = 0; i < 9; i++)
        assert_true(i % 2 ? isnan(y[i]) : y[i] == 0);
}

static void sigmoid_and_tanh_end_at_their_limits(void **state)
{
    (void)state;
    const float far[] = {-1000, 1000};
    backend->activation->forward(backend, SIGMOID, 2, floats(far), floats(y));
    assert_true(y[0] == 0 && y[1] == 1);
    backend->activation->forward(backend, TANH, 2, floats(far), floats(y));
    assert_true(y[0] == -1 && y[1] == 1);
}

static void gelu_and_silu_end_at_zero_and_at_their_input(void **state)
{
    (void)state;
    const float far[] = {-1000, 1000}, gradients[] = {1, 1};
    for (int i = 0; i < 2; i++) {
        backend->activation->forward(backend, i ? SILU : GELU, 2, floats(far), floats(y));
        assert_true(fabsf(y[0]) < 1e-30f && y[1] == 1000);
        backend->activation->backward(backend, i ? SILU : GELU, 2, floats(far), floats(gradients),
                                      floats(dx));
        assert_true(fabsf(dx[0]) < 1e-30f && dx[1] == 1);
    }
}

/* Returns the target probability of class c, with label smoothing. */
static double share_of(const struct cross_entropy *loss, int label, int c)
{
    const double smoothing = (double)loss->smoothing;
    return smoothing / loss->classes + (c == label ? 1 - smoothing : 0);
}

/* Reads the logits from y and writes their gradients to want_dx. Returns the sum of the losses. */
static double cross_entropy_reference(const struct cross_entropy *loss, const int32_t *labels)
{
    const int classes = loss->classes;
    double total = 0;
    for (int i = 0; i < loss->rows; i++) {
        const float *logits = y + i * classes;
        double sum = 0;
        if (labels[i] == LABEL_IGNORED)
            continue;
        for (int c = 0; c < classes; c++)
            sum += exp((double)logits[c]);
        for (int c = 0; c < classes; c++) {
            const double softmax = exp((double)logits[c]) / sum,
                         share = share_of(loss, labels[i], c);
            total -= share * log(softmax);
            want_dx[i * classes + c] = (softmax - share) / loss->of;
        }
    }
    return total;
}

static void cross_entropy_agrees_with_the_reference(void **state)
{
    const struct {
        int batch, classes;
    } cases[] = {{1, 1}, {1, 2}, {3, 10}, {32, 10}, {3, 256}, {2, 1024}, {7, 1025}, {3, 2500}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const int batch = cases[i].batch, classes = cases[i].classes;
        int32_t labels[32];
        struct score score = {.loss = 1000, .labels = 7, .correct = 5};
        case_begin(state);
        fill(y, (size_t)(batch * classes));
        for (int j = 0; j < batch; j++)
            labels[j] = classes - 1 - j % classes;
        double want = cross_entropy_reference(LOSS(batch, classes), labels);
        backend->loss->cross_entropy(backend, LOSS(batch, classes), y, labels, dx, &score);
        assert_true(fabs(score.loss - 1000 - want) <= 1e-6 * (1 + want));
        assert_int_equal(score.labels, 7 + batch);
        check_near(dx, want_dx, (size_t)(batch * classes), LOOP_NMSE);
        struct score once = {0}, twice = {0};
        backend->loss->cross_entropy(backend, LOSS(batch, classes), y, labels, dx, &once);
        backend->loss->cross_entropy(backend, LOSS(batch, classes), y, labels, NULL, &twice);
        assert_memory_equal(&once, &twice, sizeof once);
        assert_int_equal(score.correct, 5 + once.correct);
    }
}

static void ignored_labels_have_no_loss_and_no_gradient(void **state)
{
    const struct {
        int rows, classes;
    } cases[] = {{1, 3}, {9, 10}, {6, 1100}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const int rows = cases[i].rows, classes = cases[i].classes;
        const size_t count = (size_t)(rows * classes);
        int32_t labels[9];
        int counted = 0;
        struct score score = {0};
        case_begin(state);
        fill(y, count);
        for (int j = 0; j < rows; j++) {
            labels[j] = j % 3 == 0 ? LABEL_IGNORED : j;
            counted += j % 3 != 0;
            for (int c = 0; c < classes && j % 3 == 0; c++)
                y[j * classes + c] = NAN; /* ignored rows are not read */
        }
        const double want = cross_entropy_reference(LOSS(rows, classes), labels);
        backend->loss->cross_entropy(backend, LOSS(rows, classes), y, labels, dx, &score);
        assert_true(fabs(score.loss - want) <= 1e-6 * (1 + want));
        assert_int_equal(score.labels, counted);
        check_near(dx, want_dx, count, LOOP_NMSE);
    }
}

static void smoothed_labels_and_parts_of_a_step_agree_with_the_reference(void **state)
{
    const struct cross_entropy cases[] = {
        {1, 2, 1, 0.5f}, {3, 10, 3, 0.1f}, {4, 1100, 4, 0.9f}, {5, 7, 20, 0}, {2, 1500, 9, 0.25f}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const int32_t labels[] = {1, LABEL_IGNORED, 0, 3, 2};
        const size_t count = (size_t)cases[i].rows * (size_t)cases[i].classes;
        struct score score = {0}, again = {0};
        case_begin(state);
        fill(y, count);
        const double want = cross_entropy_reference(&cases[i], labels);
        backend->loss->cross_entropy(backend, &cases[i], y, labels, dx, &score);
        backend->loss->cross_entropy(backend, &cases[i], y, labels, NULL, &again);
        assert_true(fabs(score.loss - want) <= 1e-6 * (1 + want));
        assert_memory_equal(&score, &again, sizeof score);
        check_near(dx, want_dx, count, LOOP_NMSE);
    }
}

static void cross_entropy_may_overwrite_its_logits(void **state)
{
    for (int classes = 7; classes < 2000; classes += 1500) {
        const int32_t labels[] = {0, 6, LABEL_IGNORED, 3};
        struct score apart = {0}, over = {0};
        case_begin(state);
        backend->loss->cross_entropy(backend, LOSS(4, classes), x, labels, dx, &apart);
        backend->loss->cross_entropy(backend, LOSS(4, classes), x, labels, x, &over);
        assert_memory_equal(x, dx, (size_t)(4 * classes) * sizeof *x);
        assert_memory_equal(&over, &apart, sizeof over);
    }
}

/* Tests positions around which threads divide the logits. The largest logit is at each position in
 * turn, and an equal logit at the end must not count. */
static void the_largest_of_many_logits_is_found_wherever_it_is(void **state)
{
    const int32_t places[] = {0, 31, 32, 255, 256, 1499};
    for (size_t i = 0; i < 6; i++) {
        struct score score = {0};
        case_begin(state);
        x[1499] = x[places[i]] = 5;
        backend->loss->cross_entropy(backend, LOSS(1, 1500), x, &places[i], dx, &score);
        assert_int_equal(score.correct, 1);
        assert_int_equal(score.labels, 1);
    }
}

static void cross_entropy_counts_the_first_largest_logit(void **state)
{
    (void)state;
    const float logits[] = {1, 3, 2, /**/ 5, 5, 5, /**/ 0, 7, 7, /**/ -1, -2, -3};
    const int32_t labels[] = {1, 1, 1, 2};
    struct score score = {0};
    backend->loss->cross_entropy(backend, LOSS(4, 3), logits, labels, NULL, &score);
    assert_int_equal(score.correct, 2);
}

static void cross_entropy_survives_huge_logits(void **state)
{
    (void)state;
    const float logits[] = {10000, 0, /**/ -10000, -10000, /**/ 0, 10000};
    const int32_t labels[] = {0, 1, 0};
    struct score score = {0};
    backend->loss->cross_entropy(backend, LOSS(3, 2), logits, labels, dx, &score);
    assert_true(fabs(score.loss - (0 + log(2) + 10000)) < 1e-6);
    const double want[] = {0, 0, 0.5 / 3, -0.5 / 3, -1.0 / 3, 1.0 / 3};
    check_near(dx, want, 6, LOOP_NMSE);
    assert_int_equal(score.correct, 1);
}

static void squared_error_agrees_with_the_reference(void **state)
{
    const struct {
        int rows, width;
    } cases[] = {{1, 1}, {1, 7}, {32, 1}, {9, 31}, {9, 33}, {3, 1000}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const int rows = cases[i].rows, width = cases[i].width;
        const size_t count = (size_t)(rows * width);
        struct score score = {.loss = 1000, .labels = 7, .correct = 5};
        double loss = 0;
        case_begin(state);
        for (size_t j = 0; j < count; j++) {
            const double apart = (double)x[j] - (double)w[j];
            loss += apart * apart / width;
            want_dx[j] = 2 * apart / (double)count;
        }
        backend->loss->squared_error(backend, rows, width, rows, x, w, dx, &score);
        assert_true(fabs(score.loss - 1000 - loss) <= 1e-6 * (1 + loss));
        assert_int_equal(score.labels, 7 + rows);
        assert_int_equal(score.correct, 5);
        check_near(dx, want_dx, count, LOOP_NMSE);
        assert_true(isnan(dx[count]));
        struct score once = {0}, twice = {0}, over = {0};
        backend->loss->squared_error(backend, rows, width, rows, x, w, dx, &once);
        backend->loss->squared_error(backend, rows, width, rows, x, w, NULL, &twice);
        backend->loss->squared_error(backend, rows, width, rows, x, w, x, &over);
        assert_memory_equal(&once, &twice, sizeof once);
        assert_memory_equal(&once, &over, sizeof once);
        assert_memory_equal(x, dx, count * sizeof *x);
    }
}

static void sgd_reference(const struct sgd *sgd, size_t count, const double *g, double *weight,
                          double *m)
{
    for (size_t i = 0; i < count; i++) {
        const double decay = i < sgd->decayed ? (double)sgd->weight_decay : 0;
        double gradient = g[i] + decay * weight[i];
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
        {.rate = 0.1f, .weight_decay = 0.01f, .decayed = 1003},
        {.rate = 0.01f, .momentum = 0.5f, .weight_decay = 0.1f, .nesterov = true, .decayed = 500},
    };
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        const size_t count = i == 0 ? 1 : 1003;
        case_begin(state);
        for (size_t j = 0; j < count; j++) {
            want_y[j] = w[j];
            want_dx[j] = x[j]; /* gradients */
            want_dw[j] = b[j]; /* momentum */
        }
        for (int step = 0; step < 3; step++) {
            backend->optimize->sgd(backend, &settings[i], NULL, count, w, x, b);
            sgd_reference(&settings[i], count, want_dx, want_y, want_dw);
        }
        check_near(w, want_y, count, LOOP_NMSE);
        check_near(b, want_dw, count, LOOP_NMSE);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, case_begin)
    const struct CMUnitTest tests[] = {
        TEST(activations_agree_with_the_reference),
        TEST(an_activation_may_overwrite_its_input),
        TEST(relu_lets_nan_through),
        TEST(sigmoid_and_tanh_end_at_their_limits),
        TEST(gelu_and_silu_end_at_zero_and_at_their_input),
        TEST(cross_entropy_agrees_with_the_reference),
        TEST(ignored_labels_have_no_loss_and_no_gradient),
        TEST(smoothed_labels_and_parts_of_a_step_agree_with_the_reference),
        TEST(cross_entropy_may_overwrite_its_logits),
        TEST(the_largest_of_many_logits_is_found_wherever_it_is),
        TEST(cross_entropy_counts_the_first_largest_logit),
        TEST(cross_entropy_survives_huge_logits),
        TEST(squared_error_agrees_with_the_reference),
        TEST(sgd_agrees_with_the_reference_over_three_steps),
    };
    RUN_IN_BOTH_TYPES(tests);
}
