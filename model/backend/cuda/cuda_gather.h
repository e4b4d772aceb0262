/* The kernels that read a batch from a data set and augment images (rules: cuda_kernels.h). */
#ifndef HEARSAY_MODEL_BACKEND_CUDA_CUDA_GATHER_H
#define HEARSAY_MODEL_BACKEND_CUDA_CUDA_GATHER_H

#include <cuda_runtime_api.h>

#include "backend/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

cudaError_t kernel_gather_pixels(cudaStream_t stream, int batch, size_t sample_size,
                                 const uint8_t *pixels, const uint32_t *pick, float mean,
                                 float scale, float *x);
cudaError_t kernel_gather_rows(cudaStream_t stream, int batch, size_t size, const void *from,
                               const uint32_t *pick, void *to);
cudaError_t kernel_augment(cudaStream_t stream, struct augment augment, int batch,
                           const struct augmentation *each, const float *from, float *to);
cudaError_t kernel_gather_tokens(cudaStream_t stream, int batch, int length, int token_bytes,
                                 const void *tokens, const uint32_t *pick, int32_t *x, int32_t *y);

#ifdef __cplusplus
}
#endif

#endif
