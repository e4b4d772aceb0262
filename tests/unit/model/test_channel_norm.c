/* Channel normalization of images, on every backend, compared with naive references in double. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/model/operands.h"

struct norm_case {
    int batch;
    int channels;
    int groups;
    size_t places;
    enum activation activation;
};

static const struct norm_case cases[] = {
    {1, 1, 0, 5, LINEAR},  {3, 4, 0, 1, RELU},     {2, 3, 0, 16, RELU},  {5, 16, 0, 49, TANH},
    {40, 3, 0, 5, LINEAR}, {2, 70, 0, 9, SIGMOID}, {1, 1, 1, 5, LINEAR}, {2, 6, 3, 7, RELU},
    {3, 8, 8, 33, LINEAR}, {4, 6, 1, 20, TANH},    {2, 64, 32, 6, RELU},
};
#define CASES (sizeof cases / sizeof cases[0])

static float stats[512], want_stats[512];

static struct channel_norm norm_of(const struct norm_case *c)
{
    return (struct channel_norm){.channels = c->channels, .groups = c->groups, .places = c->places};
}

static size_t channel_of(const struct norm_case *c, size_t i)
{
    return i / c->places % (size_t)c->channels;
}

static size_t set_of(const struct norm_case *c, size_t i)
{
    const size_t sample = i / c->places / (size_t)c->channels;
    if (c->groups == 0)
        return channel_of(c, i);
    return sample * (size_t)c->groups + channel_of(c, i) * (size_t)c->groups / (size_t)c->channels;
}

static size_t numbers_of(const struct norm_case *c)
{
    return (size_t)c->batch * (size_t)c->channels * c->places;
}

/* Returns the mean of of[i] over the values i of a set. */
static double mean_of_set(const struct norm_case *c, size_t set, const double *of)
{
    double sum = 0;
    size_t count = 0;
    for (size_t i = 0; i < numbers_of(c); i++)
        if (set_of(c, i) == set) {
            sum += of[i];
            count++;
        }
    return sum / (double)count;
}

/* For each value: the normalised value, and the gradient before the activation. `work` is scratch
 * memory. */
static double normal[ROOM], gradient[ROOM], work[ROOM];

static void reference_forward(const struct norm_case *c)
{
    const struct channel_norm norm = norm_of(c);
    for (size_t set = 0; set < channel_norm_sets(&norm, c->batch); set++) {
        for (size_t i = 0; i < numbers_of(c); i++)
            work[i] = (double)x[i];
        const double mean = mean_of_set(c, set, work);
        for (size_t i = 0; i < numbers_of(c); i++)
            work[i] = pow((double)x[i] - mean, 2);
        const double scale = 1 / sqrt(mean_of_set(c, set, work) + 1e-5);
        want_stats[2 * set] = (float)mean;
        want_stats[2 * set + 1] = (float)scale;
        for (size_t i = 0; i < numbers_of(c); i++)
            if (set_of(c, i) == set)
                normal[i] = ((double)x[i] - mean) * scale;
    }
    for (size_t i = 0; i < numbers_of(c); i++) {
        const size_t channel = channel_of(c, i);
        want_y[i] = activation_reference(c->activation,
                                         normal[i] * (double)w[channel] + (double)b[channel]);
    }
}

static void reference_backward(const struct norm_case *c)
{
    const struct channel_norm norm = norm_of(c);
    for (size_t i = 0; i < numbers_of(c); i++) {
        const size_t channel = channel_of(c, i);
        const double before = normal[i] * (double)w[channel] + (double)b[channel];
        gradient[i] = (double)dy[i] * activation_gradient(c->activation, before);
        want_dy[i] = gradient[i];
        want_dw[channel] += gradient[i] * normal[i];
        want_db[channel] += gradient[i];
        gradient[i] *= (double)w[channel];
    }
    for (size_t set = 0; set < channel_norm_sets(&norm, c->batch); set++) {
        const double mean = mean_of_set(c, set, gradient);
        for (size_t i = 0; i < numbers_of(c); i++)
            work[i] = gradient[i] * normal[i];
        const double along = mean_of_set(c, set, work);
        for (size_t i = 0; i < numbers_of(c); i++)
            if (set_of(c, i) == set)
                want_dx[i] =
                    (double)want_stats[2 * set + 1] * (gradient[i] - mean - normal[i] * along);
    }
}

static void check_case(const struct norm_case *c)
{
    const struct channel_norm norm = norm_of(c);
    const size_t sets = channel_norm_sets(&norm, c->batch), all = numbers_of(c);
    const size_t channels = (size_t)c->channels;
    assert_true(2 * sets < sizeof stats / sizeof stats[0] && all < ROOM);
    stats[2 * sets] = NAN;
    backend->channels->measure(backend, &norm, c->batch, x, stats);
    backend->channels->apply(backend, &norm, c->batch, x, stats, w, b, c->activation, y);
    reference_forward(c);
    check_near(y, want_y, all, LOOP_NMSE);
    for (size_t i = 0; i < 2 * sets; i++)
        assert_true(fabsf(stats[i] - want_stats[i]) <= 1e-5f * (1 + fabsf(want_stats[i])));
    reference_backward(c);
    backend->channels->backward(backend, &norm, c->batch, x, stats, w, y, c->activation, dy, dx, dw,
                                db);
    check_near(dy, want_dy, all, LOOP_NMSE);
    check_near(dx, want_dx, all, 1e-10);
    check_near(dw, want_dw, channels, 1e-10);
    check_near(db, want_db, channels, LOOP_NMSE);
    assert_true(isnan(stats[2 * sets]) && isnan(y[all]) && isnan(dx[all]));
    assert_true(isnan(dw[channels]) && isnan(db[channels]));
}

static void norms_by_channels_agree_with_the_reference(void **state)
{
    for (size_t i = 0; i < CASES; i++) {
        case_begin(state);
        check_case(&cases[i]);
    }
}

static void a_large_mean_does_not_drown_the_deviations(void **state)
{
    const struct norm_case *c = &cases[3];
    const struct channel_norm norm = norm_of(c);
    case_begin(state);
    for (size_t i = 0; i < numbers_of(c); i++)
        x[i] += 1000;
    backend->channels->measure(backend, &norm, c->batch, x, stats);
    backend->channels->apply(backend, &norm, c->batch, x, stats, w, b, LINEAR, y);
    reference_forward(&(struct norm_case){c->batch, c->channels, 0, c->places, LINEAR});
    check_near(y, want_y, numbers_of(c), 1e-6);
}

static void running_statistics_take_the_place_of_measured_ones(void **state)
{
    const struct channel_norm norm = {.channels = 5, .places = 3};
    const float mean[] = {0, -2, 3, 1, 0}, variance[] = {1, 4, 0.25f, 0, -3};
    case_begin(state);
    stats[10] = NAN;
    backend->channels->recall(backend, &norm, mean, variance, stats);
    for (int c = 0; c < 5; c++) {
        const double kept = fmax((double)variance[c], 0);
        assert_true(stats[2 * c] == mean[c]);
        assert_true(fabs((double)stats[2 * c + 1] * sqrt(kept + 1e-5) - 1) <= 1e-6);
    }
    assert_true(isnan(stats[10]));
}

/* The gradient of the running statistics is their distance from the batch's statistics, with
 * unbiased variance. */
static void running_statistics_drift_to_what_was_measured(void **state)
{
    const struct channel_norm norm = {.channels = 3, .places = 2};
    const float batch[] = {1, 3, /**/ 10, 10, /**/ 3000, 0, /**/ 5, 7, /**/ 10, 10, /**/ 0, 0};
    const float mean[] = {0.5f, 10, 0}, variance[] = {1, 2, 1};
    /* The values 1, 3, 5, 7 have mean 4 and variance 20/3. The values 3000, 0, 0, 0 have mean 750
     * and variance 2250000. */
    const float want_dmean[] = {-3.5f, 0, -750}, want_dvariance[] = {1 - 20 / 3.0f, 2, -2249999};
    case_begin(state);
    dx[3] = dw[3] = NAN;
    backend->channels->measure(backend, &norm, 2, batch, stats);
    backend->channels->drift(backend, &norm, 2, stats, mean, variance, dx, dw);
    for (int c = 0; c < 3; c++) {
        assert_true(fabsf(dx[c] - want_dmean[c]) <= 1e-5f + 1e-5f * fabsf(want_dmean[c]));
        assert_true(fabsf(dw[c] - want_dvariance[c]) <= 1e-4f + 1e-5f * fabsf(want_dvariance[c]));
    }
    assert_true(isnan(dx[3]) && isnan(dw[3]));
}

static void an_average_is_the_mean_of_a_plane_and_its_gradient_goes_to_all_of_it(void **state)
{
    const struct {
        size_t planes, places;
    } sizes[] = {{1, 1}, {3, 2}, {70, 49}, {2, 1000}};
    for (size_t i = 0; i < 4; i++) {
        const size_t planes = sizes[i].planes, places = sizes[i].places;
        case_begin(state);
        for (size_t j = 0; j < planes * places; j++) {
            want_y[j / places] += (double)x[j] / (double)places;
            want_dx[j] = (double)dy[j / places] / (double)places;
        }
        backend->channels->average(backend, planes, places, x, y);
        backend->channels->average_backward(backend, planes, places, dy, dx);
        check_near(y, want_y, planes, LOOP_NMSE);
        check_near(dx, want_dx, planes * places, LOOP_NMSE);
        assert_true(isnan(y[planes]) && isnan(dx[planes * places]));
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, case_begin)
    const struct CMUnitTest tests[] = {
        TEST(norms_by_channels_agree_with_the_reference),
        TEST(a_large_mean_does_not_drown_the_deviations),
        TEST(running_statistics_take_the_place_of_measured_ones),
        TEST(running_statistics_drift_to_what_was_measured),
        TEST(an_average_is_the_mean_of_a_plane_and_its_gradient_goes_to_all_of_it),
    };
    RUN_ON_EACH_DEVICE(tests, host_backend_opens, host_backend_closes);
}
