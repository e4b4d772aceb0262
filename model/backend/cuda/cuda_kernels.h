/* The kernels of the GPU: one function for each operation that needs kernels of our own.
 *
 *   backend_cuda_*.c ──► these ──► cuda_layers.cu, cuda_training.cu ──► stream
 *
 * Each function queues its work in the stream and returns; a failure of that work is reported by a
 * later call that waits for it. All memory is device memory. backend.h says what the operations do.
 */
#ifndef HEARSAY_MODEL_BACKEND_CUDA_CUDA_KERNELS_H
#define HEARSAY_MODEL_BACKEND_CUDA_CUDA_KERNELS_H

#include <cuda_runtime_api.h>

#include "backend/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Kernels of cuda_layers.cu. */

/* Rounds from[rows, columns] to bfloat16, to nearest, ties to even, into to[high, wide]; the rest
 * of `to` is zero. */
cudaError_t kernel_to_bf16(cudaStream_t stream, int rows, int columns, int high, int wide,
                           struct numbers from, uint16_t *to);
/* Computes y[outer][middle][inner] = activation(y + b[middle]); b may be NULL. */
cudaError_t kernel_add_bias(cudaStream_t stream, int outer, int middle, int inner, const float *b,
                            enum activation activation, float *y);
/* Computes y[rows, columns] = activation(from + b[columns]); rows of `from` begin `stride` numbers
 * apart; b may be none. */
cudaError_t kernel_compact(cudaStream_t stream, int rows, int columns, int stride,
                           const float *from, struct numbers b, enum activation activation,
                           struct numbers y);
/* Replaces the gradient of y[rows, columns] by the gradient before the activation. Also writes it
 * as bfloat16 to rounded[rows, wide] with zero padding, unless NULL, and its sums to sums[columns]
 * in a fixed order, unless NULL. scratch[COLUMN_PARTS, columns]. */
#define COLUMN_PARTS 32
cudaError_t kernel_gradient_columns(cudaStream_t stream, int rows, int columns, struct numbers y,
                                    enum activation activation, struct numbers gradient,
                                    uint16_t *rounded, int wide, float *scratch, float *sums);
/* Does the same for y[outer][middle][inner], with sums to sums[middle], which may be NULL.
 * parts[middle, SUM_PARTS]: scratch buffer. */
#define SUM_PARTS 16
cudaError_t kernel_gradient_planes(cudaStream_t stream, int outer, int middle, int inner,
                                   const float *y, enum activation activation, float *gradient,
                                   float *parts, float *sums);
/* Computes to[j][i][inner] = activation(from[i][j][inner] + bias[i]), i < outer, j < middle; bias
 * may be NULL. */
cudaError_t kernel_swap(cudaStream_t stream, int outer, int middle, int inner, const float *from,
                        const float *bias, enum activation activation, float *to);
/* Computes columns[channels·kernel·kernel][images][positions of the output]: the input under each
 * weight of a filter at each position. Its backward pass gives each input the sum over its
 * copies. */
cudaError_t kernel_patches(cudaStream_t stream, struct conv conv, int images, const float *x,
                           float *columns);
cudaError_t kernel_unpatch(cudaStream_t stream, struct conv conv, int images, const float *columns,
                           float *dx);
cudaError_t kernel_pool(cudaStream_t stream, struct pool pool, int batch, const float *x, float *y,
                        uint8_t *winner);
cudaError_t kernel_unpool(cudaStream_t stream, struct pool pool, int batch, const float *dy,
                          const uint8_t *winner, float *dx);
cudaError_t kernel_activate(cudaStream_t stream, enum activation activation, size_t count,
                            struct numbers x, struct numbers y);
cudaError_t kernel_activate_backward(cudaStream_t stream, enum activation activation, size_t count,
                                     struct numbers kept, struct numbers dy, struct numbers dx);

/* Kernels of cuda_training.cu. */

/* Computes the loss. Rows of logits and of dlogits begin `stride` numbers apart. row_scores[rows]:
 * scratch buffer. */
cudaError_t kernel_cross_entropy(cudaStream_t stream, struct cross_entropy loss, int stride,
                                 const float *logits, const int32_t *labels, float *dlogits,
                                 struct score *row_scores, struct score *score);
/* Does the same with gradients rounded to bfloat16, and zeros from `classes` to `stride`. */
cudaError_t kernel_cross_entropy_bf16(cudaStream_t stream, struct cross_entropy loss, int stride,
                                      const float *logits, const int32_t *labels, uint16_t *dlogits,
                                      struct score *row_scores, struct score *score);
cudaError_t kernel_squared_error(cudaStream_t stream, int rows, int width, int of, const float *y,
                                 const float *want, float *dy, struct score *row_scores,
                                 struct score *score);

#ifdef __cplusplus
}
#endif

#endif
