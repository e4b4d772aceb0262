/* Channel normalization, with arrays in main memory (host_backend.h). */
#include "support/model/host_backend.h"

static size_t numbers(const struct channel_norm *norm, int batch)
{
    return (size_t)batch * (size_t)norm->channels * norm->places;
}

static void host_measure(struct backend *b_, const struct channel_norm *norm, int batch,
                         const float *x, float *stats)
{
    (void)b_;
    device_of_tests->channels->measure(device_of_tests, norm, batch,
                                       FLOATS(x, numbers(norm, batch)),
                                       FLOATS(stats, 2 * channel_norm_sets(norm, batch)));
    carry_back();
}

static void host_recall(struct backend *b_, const struct channel_norm *norm, const float *mean,
                        const float *variance, float *stats)
{
    (void)b_;
    const size_t channels = (size_t)norm->channels;
    device_of_tests->channels->recall(device_of_tests, norm, WEIGHTS(mean, channels),
                                      WEIGHTS(variance, channels), FLOATS(stats, 2 * channels));
    carry_back();
}

static void host_apply(struct backend *b_, const struct channel_norm *norm, int batch,
                       const float *x, const float *stats, const float *w, const float *b,
                       enum activation activation, float *y)
{
    (void)b_;
    const size_t channels = (size_t)norm->channels, all = numbers(norm, batch);
    device_of_tests->channels->apply(device_of_tests, norm, batch, FLOATS(x, all),
                                     FLOATS(stats, 2 * channel_norm_sets(norm, batch)),
                                     WEIGHTS(w, channels), WEIGHTS(b, channels), activation,
                                     FLOATS(y, all));
    carry_back();
}

static void host_backward(struct backend *b_, const struct channel_norm *norm, int batch,
                          const float *x, const float *stats, const float *w, const float *y,
                          enum activation activation, float *dy, float *dx, float *dw, float *db)
{
    (void)b_;
    const size_t channels = (size_t)norm->channels, all = numbers(norm, batch);
    device_of_tests->channels->backward(
        device_of_tests, norm, batch, FLOATS(x, all),
        FLOATS(stats, 2 * channel_norm_sets(norm, batch)), WEIGHTS(w, channels), FLOATS(y, all),
        activation, FLOATS(dy, all), FLOATS(dx, all), WEIGHTS(dw, channels), WEIGHTS(db, channels));
    carry_back();
}

static void host_drift(struct backend *b_, const struct channel_norm *norm, int batch,
                       const float *stats, const float *mean, const float *variance, float *dmean,
                       float *dvariance)
{
    (void)b_;
    const size_t channels = (size_t)norm->channels;
    device_of_tests->channels->drift(device_of_tests, norm, batch, FLOATS(stats, 2 * channels),
                                     WEIGHTS(mean, channels), WEIGHTS(variance, channels),
                                     WEIGHTS(dmean, channels), WEIGHTS(dvariance, channels));
    carry_back();
}

static void host_average(struct backend *b_, size_t planes, size_t places, const float *x, float *y)
{
    (void)b_;
    device_of_tests->channels->average(device_of_tests, planes, places, FLOATS(x, planes * places),
                                       FLOATS(y, planes));
    carry_back();
}

static void host_average_backward(struct backend *b_, size_t planes, size_t places, const float *dy,
                                  float *dx)
{
    (void)b_;
    device_of_tests->channels->average_backward(device_of_tests, planes, places, FLOATS(dy, planes),
                                                FLOATS(dx, planes * places));
    carry_back();
}

const struct channel_operations host_channels = {
    .measure = host_measure,
    .recall = host_recall,
    .apply = host_apply,
    .backward = host_backward,
    .drift = host_drift,
    .average = host_average,
    .average_backward = host_average_backward,
};
