/* The kernels of batch norm, group norm and global average pooling (rules: cuda_kernels.h).
 *
 *   backend_cuda_channel_norm.c ──► these functions ──► cuda_channel_norm.cu ──► stream
 *
 * Sums are always added in the same order. The caller provides the scratch buffers; their content
 * may change between calls.
 */
#ifndef HEARSAY_MODEL_BACKEND_CUDA_CUDA_CHANNEL_NORM_H
#define HEARSAY_MODEL_BACKEND_CUDA_CUDA_CHANNEL_NORM_H

#include <cuda_runtime_api.h>

#include "backend/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Measures the statistics. scratch[planes]: one float for each channel of each sample. */
cudaError_t kernel_channel_measure(cudaStream_t stream, struct channel_norm norm, int batch,
                                   const float *x, float *scratch, float *stats);
cudaError_t kernel_channel_recall(cudaStream_t stream, struct channel_norm norm, const float *mean,
                                  const float *variance, float *stats);
cudaError_t kernel_channel_apply(cudaStream_t stream, struct channel_norm norm, int batch,
                                 const float *x, const float *stats, const float *w, const float *b,
                                 enum activation activation, float *y);

/* Arguments and scratch buffers of a backward pass. */
struct channel_gradients {
    const float *x;
    const float *stats;
    const float *w;
    const float *y;
    float *dy;
    float *plane_sums; /* [planes, 2] scratch buffer: two sums of each plane */
    float *set_sums;   /* [sets, 2] scratch buffer: two means of each set */
};
/* Makes a backward pass. dx may be NULL. */
cudaError_t kernel_channel_backward(cudaStream_t stream, struct channel_norm norm, int batch,
                                    enum activation activation, struct channel_gradients gradients,
                                    float *dx, float *dw, float *db);
cudaError_t kernel_channel_drift(cudaStream_t stream, struct channel_norm norm, int batch,
                                 const float *stats, const float *mean, const float *variance,
                                 float *dmean, float *dvariance);
cudaError_t kernel_average(cudaStream_t stream, size_t planes, size_t places, const float *x,
                           float *y);
cudaError_t kernel_average_backward(cudaStream_t stream, size_t planes, size_t places,
                                    const float *dy, float *dx);

#ifdef __cplusplus
}
#endif

#endif
