/* Batch norm, group norm and averages of images. The planes of a set are processed one after the
 * other, so that they are still in the cache when they are read again. */
#include <math.h>
#include <string.h>

#include "backend/cpu/cpu.h"
#include "backend/cpu/cpu_vector.h"
#include "base/error.h"

/* The planes of a set (backend.h): indices first, first + stride, ... A plane is a channel of one
 * sample. */
struct planes {
    size_t first;
    size_t stride;
    size_t count;
};

static struct planes planes_of(const struct channel_norm *norm, int batch, size_t set)
{
    if (norm->groups == 0)
        return (struct planes){set, (size_t)norm->channels, (size_t)batch};
    const size_t channels = (size_t)(norm->channels / norm->groups);
    return (struct planes){set * channels, 1, channels};
}

static size_t set_of(const struct channel_norm *norm, size_t plane)
{
    return norm->groups == 0 ? plane % (size_t)norm->channels
                             : plane / (size_t)(norm->channels / norm->groups);
}

EACH_WIDTH static float sum_of(const float *x, int count)
{
    return vector_sum(x, count);
}

EACH_WIDTH static float sum_of_squares(const float *x, int count, float mean)
{
    float lanes[LANES] = {0}, rest = 0;
    int i = 0;
    for (; i + LANES <= count; i += LANES)
        for (int k = 0; k < LANES; k++)
            lanes[k] += (x[i + k] - mean) * (x[i + k] - mean);
    for (; i < count; i++)
        rest += (x[i] - mean) * (x[i] - mean);
    return lanes_sum(lanes) + rest;
}

/* Measures the mean and 1 / √(variance + NORM_EPSILON) of each set. The variance is summed from
 * differences to the mean, so that a large mean costs no precision. */
static void cpu_channel_norm_measure(struct backend *backend, const struct channel_norm *norm,
                                     int batch, const float *x, float *stats)
{
    (void)backend;
    const int places = (int)norm->places;
    for (size_t set = 0; set < channel_norm_sets(norm, batch); set++) {
        const struct planes planes = planes_of(norm, batch, set);
        const double count = (double)planes.count * (double)places;
        const float *first = x + planes.first * norm->places;
        const size_t stride = planes.stride * norm->places;
        double sum = 0, squares = 0;
        for (size_t i = 0; i < planes.count; i++)
            sum += (double)sum_of(first + i * stride, places);
        const float mean = (float)(sum / count);
        for (size_t i = 0; i < planes.count; i++)
            squares += (double)sum_of_squares(first + i * stride, places, mean);
        stats[2 * set] = mean;
        stats[2 * set + 1] = 1 / sqrtf((float)(squares / count) + NORM_EPSILON);
    }
}

/* Counts a negative running variance as 0: updates of other nodes may have made it negative. */
static void cpu_channel_norm_recall(struct backend *backend, const struct channel_norm *norm,
                                    const float *mean, const float *variance, float *stats)
{
    (void)backend;
    CHECK(norm->groups == 0);
    for (int c = 0; c < norm->channels; c++) {
        stats[2 * c] = mean[c];
        stats[2 * c + 1] = 1 / sqrtf((variance[c] < 0 ? 0 : variance[c]) + NORM_EPSILON);
    }
}

EACH_WIDTH static void plane_apply(int places, float mean, float scale, float shift,
                                   const float *restrict x, float *restrict y)
{
    for (int i = 0; i < places; i++)
        y[i] = (x[i] - mean) * scale + shift;
}

static void cpu_channel_norm_apply(struct backend *backend, const struct channel_norm *norm,
                                   int batch, const float *x, const float *stats, const float *w,
                                   const float *b, enum activation activation, float *y)
{
    const size_t planes = (size_t)batch * (size_t)norm->channels;
    for (size_t plane = 0; plane < planes; plane++, x += norm->places, y += norm->places) {
        const size_t channel = plane % (size_t)norm->channels;
        const float *own = stats + 2 * set_of(norm, plane);
        plane_apply((int)norm->places, own[0], own[1] * w[channel], b[channel], x, y);
        cpu_activation.forward(backend, activation, norm->places, floats(y), floats(y));
    }
}

/* Computes sums = Σ dy and Σ dy·n over a plane. n = (x - mean) · scale is the normalised input,
 * with scale = 1 / deviation. */
EACH_WIDTH static void plane_gradients(int places, float mean, float scale, const float *restrict x,
                                       const float *restrict dy, float sums[restrict static 2])
{
    float lanes[LANES] = {0}, along[LANES] = {0};
    int i = 0;
    for (; i + LANES <= places; i += LANES)
        for (int k = 0; k < LANES; k++) {
            lanes[k] += dy[i + k];
            along[k] += dy[i + k] * (x[i + k] - mean);
        }
    for (; i < places; i++) {
        lanes[0] += dy[i];
        along[0] += dy[i] * (x[i] - mean);
    }
    sums[0] = lanes_sum(lanes);
    sums[1] = lanes_sum(along) * scale;
}

EACH_WIDTH static void plane_backward(int places, float mean, float own, float common, float along,
                                      const float *restrict x, const float *restrict dy,
                                      float *restrict dx)
{
    for (int i = 0; i < places; i++)
        dx[i] = own * dy[i] - common - (x[i] - mean) * along;
}

/* State of the backward pass of one set, the numbers that are normalised together. n is the
 * normalised input. */
struct norm_gradients {
    struct planes planes;
    int places;
    int channels;
    float mean, scale; /* scale: 1 / deviation */
    const float *w;
    double sum;   /* Σ w·dy over the set */
    double along; /* Σ w·dy·n over the set */
};

static void set_sums(struct norm_gradients *set, const float *x, const float *dy, float *dw,
                     float *db)
{
    for (size_t i = 0; i < set->planes.count; i++) {
        const size_t plane = set->planes.first + i * set->planes.stride;
        const size_t channel = plane % (size_t)set->channels, at = plane * (size_t)set->places;
        float sums[2];
        plane_gradients(set->places, set->mean, set->scale, x + at, dy + at, sums);
        db[channel] += sums[0];
        dw[channel] += sums[1];
        set->sum += (double)set->w[channel] * (double)sums[0];
        set->along += (double)set->w[channel] * (double)sums[1];
    }
}

/* Computes dx of a set. With scale = 1 / deviation, n = (x - mean) · scale and s = w · dy: dx =
 * scale · (s - mean(s) - n · mean(s·n)). */
static void set_backward(const struct norm_gradients *set, const float *x, const float *dy,
                         float *dx)
{
    const double count = (double)set->planes.count * (double)set->places;
    const double scale = (double)set->scale;
    const float common = (float)(scale * set->sum / count);
    const float along = (float)(scale * scale * set->along / count);
    for (size_t i = 0; i < set->planes.count; i++) {
        const size_t plane = set->planes.first + i * set->planes.stride;
        const size_t channel = plane % (size_t)set->channels, at = plane * (size_t)set->places;
        plane_backward(set->places, set->mean, set->scale * set->w[channel], common, along, x + at,
                       dy + at, dx + at);
    }
}

static void cpu_channel_norm_backward(struct backend *backend, const struct channel_norm *norm,
                                      int batch, const float *x, const float *stats, const float *w,
                                      const float *y, enum activation activation, float *dy,
                                      float *dx, float *dw, float *db)
{
    memset(dw, 0, (size_t)norm->channels * sizeof *dw);
    memset(db, 0, (size_t)norm->channels * sizeof *db);
    for (size_t s = 0; s < channel_norm_sets(norm, batch); s++, stats += 2) {
        struct norm_gradients set = {.planes = planes_of(norm, batch, s),
                                     .places = (int)norm->places,
                                     .channels = norm->channels,
                                     .mean = stats[0],
                                     .scale = stats[1],
                                     .w = w};
        for (size_t i = 0; i < set.planes.count && activation != LINEAR; i++) {
            const size_t at = (set.planes.first + i * set.planes.stride) * norm->places;
            cpu_activation.backward(backend, activation, norm->places, floats(y + at),
                                    floats(dy + at), floats(dy + at));
        }
        set_sums(&set, x, dy, dw, db);
        if (dx)
            set_backward(&set, x, dy, dx);
    }
}

static void cpu_channel_norm_drift(struct backend *backend, const struct channel_norm *norm,
                                   int batch, const float *stats, const float *mean,
                                   const float *variance, float *dmean, float *dvariance)
{
    (void)backend;
    CHECK(norm->groups == 0);
    const float count = (float)batch * (float)norm->places;
    const float unbiased = count > 1 ? count / (count - 1) : 1;
    for (int c = 0; c < norm->channels; c++) {
        const float scale = stats[2 * c + 1], measured = 1 / (scale * scale) - NORM_EPSILON;
        dmean[c] = mean[c] - stats[2 * c];
        dvariance[c] = variance[c] - measured * unbiased;
    }
}

static void cpu_average_forward(struct backend *backend, size_t planes, size_t places,
                                const float *x, float *y)
{
    (void)backend;
    for (size_t plane = 0; plane < planes; plane++)
        y[plane] = sum_of(x + plane * places, (int)places) / (float)places;
}

static void cpu_average_backward(struct backend *backend, size_t planes, size_t places,
                                 const float *dy, float *dx)
{
    (void)backend;
    for (size_t plane = 0; plane < planes; plane++, dx += places) {
        const float gradient = dy[plane] / (float)places;
        for (size_t i = 0; i < places; i++)
            dx[i] = gradient;
    }
}

const struct channel_operations cpu_channels = {
    .measure = cpu_channel_norm_measure,
    .recall = cpu_channel_norm_recall,
    .apply = cpu_channel_norm_apply,
    .backward = cpu_channel_norm_backward,
    .drift = cpu_channel_norm_drift,
    .average = cpu_average_forward,
    .average_backward = cpu_average_backward,
};
