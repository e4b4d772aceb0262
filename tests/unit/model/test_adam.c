/* Adam on every backend, compared in double with the formulas of its papers. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "support/model/host_backend.h"

#define COUNT 1003

static float w[COUNT], g[COUNT], m[COUNT], v[COUNT], scale[COUNT];
static double want_w[COUNT], want_m[COUNT], want_v[COUNT];

static int begin(void **state)
{
    (void)state;
    struct rng rng = rng_new(1, 1);
    for (int i = 0; i < COUNT; i++) {
        want_w[i] = (double)(w[i] = (float)(2 * rng_uniform(&rng) - 1));
        /* approximate size of this parameter's gradients */
        scale[i] = (float)exp(10 * rng_uniform(&rng) - 8);
        g[i] = rng_uniform(&rng) < 0.5 ? -scale[i] : scale[i];
        want_m[i] = want_v[i] = (double)(m[i] = v[i] = 0);
    }
    return 0;
}

static void adam_reference(const struct adam *adam, int count)
{
    const double beta1 = (double)adam->beta1, beta2 = (double)adam->beta2;
    for (int i = 0; i < count; i++) {
        const double gradient = (double)g[i];
        want_m[i] = beta1 * want_m[i] + (1 - beta1) * gradient;
        want_v[i] = beta2 * want_v[i] + (1 - beta2) * gradient * gradient;
        const double mean = want_m[i] / (1 - pow(beta1, (double)adam->step));
        const double square = want_v[i] / (1 - pow(beta2, (double)adam->step));
        const double step = mean / (sqrt(square) + (double)adam->epsilon);
        const double decay = (size_t)i < adam->decayed ? (double)adam->weight_decay : 0;
        want_w[i] -= (double)adam->rate * (step + decay * want_w[i]);
    }
}

/* Checks the squared error relative to the squared expected values. */
static void check_near(const float *got, const double *want, int count)
{
    double error = 0, power = 0;
    for (int i = 0; i < count; i++) {
        error += ((double)got[i] - want[i]) * ((double)got[i] - want[i]);
        power += want[i] * want[i];
    }
    if (!(error <= 1e-12 * power))
        fail_msg("off by %g", error / power);
}

static void adam_agrees_with_the_reference(void **state)
{
    const struct adam settings[] = {
        {.rate = 0.01f, .beta1 = 0.9f, .beta2 = 0.999f, .epsilon = 1e-8f},
        {.rate = 0.01f, .beta1 = 0, .beta2 = 0, .epsilon = 1e-3f},
        {.rate = 0.1f,
         .beta1 = 0.9f,
         .beta2 = 0.99f,
         .epsilon = 0.1f,
         .weight_decay = 0.5f,
         .decayed = COUNT},
        {.rate = 0.01f, .beta1 = 0.9f, .beta2 = 0.999f, .weight_decay = 0.1f, .decayed = COUNT / 3},
    };
    for (size_t k = 0; k < sizeof settings / sizeof settings[0]; k++) {
        const int count = k == 1 ? 1 : COUNT;
        struct adam adam = settings[k];
        struct rng rng = rng_new(2, k);
        (void)begin(state);
        for (adam.step = 1; adam.step <= 50; adam.step++) {
            for (int i = 0; i < count; i++)
                g[i] = scale[i] * (float)(2.2 * rng_uniform(&rng) - 1);
            backend->optimize->adam(backend, &adam, NULL, (size_t)count, w, g, m, v);
            adam_reference(&adam, count);
        }
        check_near(w, want_w, count);
        check_near(m, want_m, count);
        check_near(v, want_v, count);
    }
}

/* The bias corrections cancel the effect of zero initial moments, however large the gradient is. */
static void the_first_step_of_adam_is_the_rate_towards_where_the_gradient_falls(void **state)
{
    (void)state;
    const struct adam adam = {
        .rate = 0.01f, .beta1 = 0.9f, .beta2 = 0.999f, .epsilon = 1e-12f, .step = 1};
    backend->optimize->adam(backend, &adam, NULL, COUNT, w, g, m, v);
    for (int i = 0; i < COUNT; i++)
        assert_true(fabs((double)w[i] - (want_w[i] - (g[i] > 0 ? 0.01 : -0.01))) < 1e-6);
}

static void the_decay_of_adam_leaves_the_moments_alone(void **state)
{
    (void)state;
    const struct adam adam = {.rate = 0.1f,
                              .beta1 = 0.9f,
                              .beta2 = 0.999f,
                              .epsilon = 1e-8f,
                              .weight_decay = 0.5f,
                              .decayed = COUNT / 2,
                              .step = 1};
    memset(g, 0, sizeof g);
    backend->optimize->adam(backend, &adam, NULL, COUNT, w, g, m, v);
    for (int i = 0; i < COUNT; i++) {
        assert_true(m[i] == 0 && v[i] == 0);
        assert_true(fabs((double)w[i] - (i < COUNT / 2 ? 0.95 : 1) * want_w[i]) < 1e-7);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, begin)
    const struct CMUnitTest tests[] = {
        TEST(adam_agrees_with_the_reference),
        TEST(the_first_step_of_adam_is_the_rate_towards_where_the_gradient_falls),
        TEST(the_decay_of_adam_leaves_the_moments_alone),
    };
    RUN_ON_EACH_DEVICE(tests, host_backend_opens, host_backend_closes);
}
