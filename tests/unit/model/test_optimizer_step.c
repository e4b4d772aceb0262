/* LAMB and Muon on every backend, compared in double with the formulas of their papers, and which
 * rule moves which tensors of a model. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/model/operands.h"
#include "training/optimizer_step.h"

static float m[ROOM], v[ROOM];
static double n[ROOM], square[ROOM], polynomial[ROOM];

static void draw(size_t count)
{
    fill(w, count);
    fill(m, count);
    fill(x, count); /* gradients */
    for (size_t i = 0; i < count; i++)
        v[i] = m[i] * m[i] + 0.01f;
}

static double length_of(const double *numbers, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += numbers[i] * numbers[i];
    return sqrt(sum);
}

static void lamb_reference(const struct adam *adam, size_t count, bool decays)
{
    const double beta1 = (double)adam->beta1, beta2 = (double)adam->beta2;
    for (size_t i = 0; i < count; i++) {
        const double mean = beta1 * (double)m[i] + (1 - beta1) * (double)x[i];
        const double squares = beta2 * (double)v[i] + (1 - beta2) * (double)x[i] * (double)x[i];
        n[i] = mean / (1 - pow(beta1, (double)adam->step)) /
                   (sqrt(squares / (1 - pow(beta2, (double)adam->step))) + (double)adam->epsilon) +
               (decays ? (double)adam->weight_decay * (double)w[i] : 0);
        want_dx[i] = mean;
        want_dy[i] = squares;
        want_y[i] = (double)w[i];
    }
    const double of_w = length_of(want_y, count), of_u = length_of(n, count);
    const double ratio = of_w > 0 && of_u > 0 ? of_w / of_u : 1;
    for (size_t i = 0; i < count; i++)
        want_y[i] -= (double)adam->rate * ratio * n[i];
}

static void lamb_agrees_with_the_reference(void **state)
{
    const size_t counts[] = {1, 33, 1000, 5000, 1000};
    for (size_t k = 0; k < 5; k++) {
        const struct adam adam = {.rate = 0.1f,
                                  .beta1 = 0.9f,
                                  .beta2 = 0.99f,
                                  .epsilon = 1e-6f,
                                  .weight_decay = 0.2f,
                                  .step = 3 + k};
        case_begin(state);
        draw(counts[k]);
        for (size_t i = 0; i < counts[k] && k == 4; i++)
            w[i] = 0; /* zero weights, for which the trust ratio is 1 */
        const float after = w[counts[k]] = 7;
        lamb_reference(&adam, counts[k], k % 2);
        backend->optimize->lamb(backend, &adam, NULL, counts[k], k % 2, w, x, m, v);
        check_near(w, want_y, counts[k], 1e-11);
        check_near(m, want_dx, counts[k], LOOP_NMSE);
        check_near(v, want_dy, counts[k], LOOP_NMSE);
        assert_true(w[counts[k]] == after);
    }
}

/* One Newton-Schulz iteration: n becomes MUON_A·n + (MUON_B·s + MUON_C·s²)·n, with s = nnᵀ. */
static void turn_reference(size_t rows, size_t columns)
{
    for (size_t i = 0; i < rows * rows; i++) {
        square[i] = 0;
        for (size_t k = 0; k < columns; k++)
            square[i] += n[i / rows * columns + k] * n[i % rows * columns + k];
    }
    for (size_t i = 0; i < rows * rows; i++) {
        polynomial[i] = (double)MUON_B * square[i];
        for (size_t k = 0; k < rows; k++)
            polynomial[i] +=
                (double)MUON_C * square[i / rows * rows + k] * square[k * rows + i % rows];
    }
    for (size_t i = 0; i < rows * columns; i++) {
        want_dx[i] = (double)MUON_A * n[i];
        for (size_t k = 0; k < rows; k++)
            want_dx[i] += polynomial[i / columns * rows + k] * n[k * columns + i % columns];
    }
    memcpy(n, want_dx, rows * columns * sizeof *n);
}

static void muon_reference(const struct sgd *sgd, size_t rows, size_t columns)
{
    const size_t count = rows * columns;
    const double momentum = (double)sgd->momentum, rate = (double)sgd->rate;
    for (size_t i = 0; i < count; i++) {
        want_dy[i] = momentum * (double)m[i] + (double)x[i];
        n[i] = sgd->nesterov ? (double)x[i] + momentum * want_dy[i] : want_dy[i];
    }
    const double length = length_of(n, count);
    for (size_t i = 0; i < count; i++)
        n[i] /= length;
    for (int turn = 0; turn < MUON_TURNS; turn++)
        turn_reference(rows, columns);
    const double scale = (double)MUON_SCALE * sqrt((double)(rows > columns ? rows : columns));
    for (size_t i = 0; i < count; i++)
        want_y[i] = (double)w[i] * (1 - rate * (double)sgd->weight_decay) - rate * scale * n[i];
}

static void muon_agrees_with_the_reference(void **state)
{
    const struct {
        int rows, columns;
    } cases[] = {{1, 1}, {1, 9}, {7, 1}, {3, 5}, {5, 3}, {16, 16}, {20, 70}, {70, 20}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        const struct sgd sgd = {
            .rate = 0.1f, .momentum = 0.9f, .weight_decay = 0.3f, .nesterov = k % 2};
        const size_t rows = (size_t)cases[k].rows, columns = (size_t)cases[k].columns;
        case_begin(state);
        draw(rows * columns);
        muon_reference(&sgd, rows, columns);
        w[rows * columns] = 7;
        backend->optimize->muon(backend, &sgd, NULL, cases[k].rows, cases[k].columns, w, x, m);
        check_near(w, want_y, rows * columns, 1e-9);
        check_near(m, want_dy, rows * columns, LOOP_NMSE);
        assert_true(w[rows * columns] == 7);
    }
}

/* Without a gradient there is no direction, so weights do not move. */
static void muon_stays_where_there_is_no_gradient(void **state)
{
    const struct sgd sgd = {.rate = 0.1f, .momentum = 0.9f};
    case_begin(state);
    draw(12);
    memcpy(y, w, 12 * sizeof *w);
    memset(x, 0, sizeof x);
    memset(m, 0, sizeof m);
    backend->optimize->muon(backend, &sgd, NULL, 3, 4, w, x, m);
    assert_memory_equal(w, y, 12 * sizeof *w);
}

/* Compares one step of the whole model with moving each of its tensors by its rule. */
static void check_rules(const char *line, struct shape in, enum optimizer_kind kind)
{
    static float by_hand[4][ROOM];
    static float *const all[4] = {w, x, m, v};
    struct arena arena;
    struct model *model = NULL;
    struct problem problem = {""};
    struct optimizer_step step;
    const struct optimizer optimizer = {
        .kind = kind,
        .sgd = {.rate = 0.1f, .momentum = 0.9f, .weight_decay = 0.2f, .nesterov = true},
        .beta2 = 0.9f};
    arena_init(&arena, 4096);
    if (model_new(&model, &arena, NULL, line, in, 5, 1, &problem) != OK)
        fail_msg("%s", problem.text);
    draw(model_parameters(model));
    for (int i = 0; i < 4; i++)
        memcpy(by_hand[i], all[i], sizeof by_hand[i]);
    optimizer_step_set(&step, &optimizer, model, (struct swarm_progress){.learners = 1}, 4, 2);
    optimizer_step_make(backend, &optimizer, model, &step, w, x, (float *[2]){m, v});
    for (int i = 0; i < model_tensors(model); i++) {
        const struct tensor tensor = model_tensor(model, i);
        const size_t end = i + 1 < model_tensors(model) ? model_tensor(model, i + 1).offset
                                                        : model_parameters(model);
        const size_t at = tensor.offset, count = end - at;
        float *a = by_hand[0] + at, *g = by_hand[1] + at;
        float *first = by_hand[2] + at, *second = by_hand[3] + at;
        if (at >= model_trained(model))
            for (size_t p = 0; p < count; p++)
                a[p] -= 0.05f * g[p]; /* the rate 0.1, divided by two parts */
        else if (tensor.rank == 1)
            backend->optimize->adam(backend, &step.bare, NULL, count, a, g, first, second);
        else if (kind == OPTIMIZER_LAMB)
            backend->optimize->lamb(backend, &step.adam, NULL, count, true, a, g, first, second);
        else if (tensor.is_hidden)
            backend->optimize->muon(backend, &step.sgd, NULL, (int)tensor.dims[0],
                                    (int)(count / tensor.dims[0]), a, g, first);
        else
            backend->optimize->adam(backend, &step.adam, NULL, count, a, g, first, second);
        for (size_t p = at; p < end; p++)
            if (!(fabsf(w[p] - by_hand[0][p]) <= 1e-6f))
                fail_msg("%s: entry %zu is %g, not %g", tensor.name, p - at, (double)w[p],
                         (double)by_hand[0][p]);
    }
    model_free(model);
    arena_release(&arena);
}

static void matrices_move_by_the_rule_and_the_rest_by_adam(void **state)
{
    const struct shape text = {1, 1, 1, 4}, image = {2, 6, 6, 0};
    for (int i = 0; i < 2; i++) {
        const enum optimizer_kind kind = i == 0 ? OPTIMIZER_LAMB : OPTIMIZER_MUON;
        case_begin(state);
        check_rules("embed 5 8, position 4, residual(norm, attention 2), dense 6, norm, logits",
                    text, kind);
        check_rules("conv 4 3x3, batchnorm, relu, conv 3 3x3 plain, groupnorm 3, dense 5", image,
                    kind);
    }
}

static void hidden_matrices_are_those_between_the_first_and_the_last_layer(void **state)
{
    (void)state;
    struct arena arena;
    struct model *model = NULL;
    struct problem problem;
    int hidden = 0;
    arena_init(&arena, 4096);
    assert_int_equal(model_new(&model, &arena, NULL,
                               "embed 5 8, position 4, residual(norm, attention 2), dense 6, norm, "
                               "logits",
                               (struct shape){1, 1, 1, 4}, 5, 1, &problem),
                     OK);
    for (int i = 0; i < model_tensors(model); i++) {
        const struct tensor tensor = model_tensor(model, i);
        assert_true(!tensor.is_hidden || strstr(tensor.name, ".attention.") ||
                    strstr(tensor.name, ".dense.weight"));
        hidden += tensor.is_hidden;
    }
    assert_int_equal(hidden, 3);
    model_free(model);
    arena_release(&arena);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, case_begin)
    const struct CMUnitTest tests[] = {
        TEST(lamb_agrees_with_the_reference),
        TEST(muon_agrees_with_the_reference),
        TEST(muon_stays_where_there_is_no_gradient),
        TEST(matrices_move_by_the_rule_and_the_rest_by_adam),
        TEST(hidden_matrices_are_those_between_the_first_and_the_last_layer),
    };
    RUN_ON_EACH_DEVICE(tests, host_backend_opens, host_backend_closes);
}
