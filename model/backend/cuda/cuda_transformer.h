/* The kernels of sequence models, except matrix products (rules: cuda_kernels.h).
 *
 *   backend_cuda_transformer.c ──► these functions ──► cuda_transformer.cu, cuda_attention*.cu
 *                                                      └─► stream
 *
 * Sums are always added in the same order. The caller provides the scratch buffers; their content
 * may change between calls.
 */
#ifndef HEARSAY_MODEL_BACKEND_CUDA_CUDA_TRANSFORMER_H
#define HEARSAY_MODEL_BACKEND_CUDA_CUDA_TRANSFORMER_H

#include <cuda_runtime_api.h>

#include "backend/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Kernels of cuda_transformer.cu. */

cudaError_t kernel_embed(cudaStream_t stream, size_t rows, int size, const int32_t *token,
                         struct numbers table, struct numbers y);
/* Backward pass of an embedding. later[rows] and is_first[rows]: scratch buffers. */
cudaError_t kernel_embed_backward(cudaStream_t stream, size_t rows, int size, const int32_t *token,
                                  struct numbers dy, int32_t *later, uint8_t *is_first,
                                  float *dtable);
cudaError_t kernel_add(cudaStream_t stream, size_t count, struct numbers a, struct numbers b,
                       struct numbers y);
cudaError_t kernel_add_shared(cudaStream_t stream, int batch, size_t count, struct numbers x,
                              const float *shared, struct numbers y);
/* Converts numbers of different types: float32 to bfloat16, rounded, or bfloat16 to float32. */
cudaError_t kernel_convert(cudaStream_t stream, size_t count, struct numbers from,
                           struct numbers to);
cudaError_t kernel_sum_shared(cudaStream_t stream, int batch, size_t count, struct numbers dy,
                              float *dshared);
cudaError_t kernel_drop(cudaStream_t stream, struct dropout dropout, const uint32_t *draws,
                        struct numbers x, struct numbers y);
/* Computes the norm of x. If sum.at is not NULL, first sets sum = x + other and computes the norm
 * of the sum. */
cudaError_t kernel_norm(cudaStream_t stream, size_t rows, int size, struct numbers x,
                        struct numbers other, struct numbers sum, const float *w, const float *b,
                        struct numbers y, float *stats);
#define NORM_PARTS 256 /* largest number of blocks of kernel_norm_backward */

/* Backward pass of a norm. sums[2, NORM_PARTS, size]: scratch buffer. */
cudaError_t kernel_norm_backward(cudaStream_t stream, size_t rows, int size, struct numbers x,
                                 const float *w, const float *stats, struct numbers dy,
                                 struct numbers passed, float *sums, struct numbers dx, float *dw,
                                 float *db);
/* Rotates queries and keys. turns[length, size / 2, 2]: scratch buffer for cosines and sines. */
cudaError_t kernel_rotate(cudaStream_t stream, struct attention attention, int batch, int turn,
                          float *turns, struct numbers x);
cudaError_t kernel_swiglu(cudaStream_t stream, size_t rows, int size, struct numbers x,
                          struct numbers y);
cudaError_t kernel_swiglu_backward(cudaStream_t stream, size_t rows, int size, struct numbers x,
                                   struct numbers dy, struct numbers dx);

/* Kernels of cuda_attention.cu. */

cudaError_t kernel_attention(cudaStream_t stream, struct attention attention, int batch,
                             struct numbers x, struct numbers y, float *log_sums);
/* Computes mixed[batch, heads, length]: the scalar product of y and dy for each query, which is
 * part of the gradients of all its scores. */
cudaError_t kernel_attention_mixed(cudaStream_t stream, struct attention attention, int batch,
                                   struct numbers y, struct numbers dy, float *mixed);
cudaError_t kernel_attention_gradients(cudaStream_t stream, struct attention attention, int batch,
                                       struct numbers x, const float *log_sums, const float *mixed,
                                       struct numbers dy, struct numbers dx);

/* Kernels of cuda_attention_bf16.cu. The first function returns whether they support this shape and
 * these addresses of x and y, the output or its gradient. */

bool kernel_attention_fits_bf16(const struct attention *attention, struct numbers x,
                                struct numbers y);
cudaError_t kernel_attention_bf16(cudaStream_t stream, struct attention attention, int batch,
                                  struct numbers x, struct numbers y, float *log_sums);
cudaError_t kernel_attention_gradients_bf16(cudaStream_t stream, struct attention attention,
                                            int batch, struct numbers x, const float *log_sums,
                                            const float *mixed, struct numbers dy,
                                            struct numbers dx);

#ifdef __cplusplus
}
#endif

#endif
