/* Batch norm, group norm and global average pooling on a GPU: calls the kernels with their scratch
 * buffers. */
#include "backend/cuda/cuda.h"
#include "backend/cuda/cuda_channel_norm.h"

static void cuda_channel_norm_measure(struct backend *backend, const struct channel_norm *norm,
                                      int batch, const float *x, float *stats)
{
    struct cuda *cuda = cuda_on(backend);
    float *scratch = cuda_scratch(cuda, (size_t)batch * (size_t)norm->channels * sizeof *scratch);
    cuda_check(kernel_channel_measure(cuda->stream, *norm, batch, x, scratch, stats), "norm");
}

static void cuda_channel_norm_recall(struct backend *backend, const struct channel_norm *norm,
                                     const float *mean, const float *variance, float *stats)
{
    cuda_check(kernel_channel_recall(cuda_on(backend)->stream, *norm, mean, variance, stats),
               "norm");
}

static void cuda_channel_norm_apply(struct backend *backend, const struct channel_norm *norm,
                                    int batch, const float *x, const float *stats, const float *w,
                                    const float *b, enum activation activation, float *y)
{
    cuda_check(
        kernel_channel_apply(cuda_on(backend)->stream, *norm, batch, x, stats, w, b, activation, y),
        "norm");
}

static void cuda_channel_norm_backward(struct backend *backend, const struct channel_norm *norm,
                                       int batch, const float *x, const float *stats,
                                       const float *w, const float *y, enum activation activation,
                                       float *dy, float *dx, float *dw, float *db)
{
    struct cuda *cuda = cuda_on(backend);
    const size_t planes = (size_t)batch * (size_t)norm->channels;
    const size_t sets = channel_norm_sets(norm, batch);
    float *scratch = cuda_scratch(cuda, 2 * (planes + sets) * sizeof *scratch);
    const struct channel_gradients gradients = {.x = x,
                                                .stats = stats,
                                                .w = w,
                                                .y = y,
                                                .dy = dy,
                                                .plane_sums = scratch,
                                                .set_sums = scratch + 2 * planes};
    cuda_check(
        kernel_channel_backward(cuda->stream, *norm, batch, activation, gradients, dx, dw, db),
        "norm");
}

static void cuda_channel_norm_drift(struct backend *backend, const struct channel_norm *norm,
                                    int batch, const float *stats, const float *mean,
                                    const float *variance, float *dmean, float *dvariance)
{
    cuda_check(kernel_channel_drift(cuda_on(backend)->stream, *norm, batch, stats, mean, variance,
                                    dmean, dvariance),
               "norm");
}

static void cuda_average_forward(struct backend *backend, size_t planes, size_t places,
                                 const float *x, float *y)
{
    cuda_check(kernel_average(cuda_on(backend)->stream, planes, places, x, y), "averaging");
}

static void cuda_average_backward(struct backend *backend, size_t planes, size_t places,
                                  const float *dy, float *dx)
{
    cuda_check(kernel_average_backward(cuda_on(backend)->stream, planes, places, dy, dx),
               "averaging");
}

const struct channel_operations cuda_channels = {
    .measure = cuda_channel_norm_measure,
    .recall = cuda_channel_norm_recall,
    .apply = cuda_channel_norm_apply,
    .backward = cuda_channel_norm_backward,
    .drift = cuda_channel_norm_drift,
    .average = cuda_average_forward,
    .average_backward = cuda_average_backward,
};
