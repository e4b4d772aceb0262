/* Our own GPU kernels for layers and losses, and the rules for all our kernels.
 *
 *   backend_cuda_*.c ──► these functions ──► cuda_layers.cu, cuda_training.cu ──► stream
 *
 * Rules: each function queues its work in the stream and returns. A failure of that work is
 * reported by a later call that waits for it. All memory is device memory. backend.h describes the
 * operations.
 */
#ifndef HEARSAY_MODEL_BACKEND_CUDA_CUDA_KERNELS_H
#define HEARSAY_MODEL_BACKEND_CUDA_CUDA_KERNELS_H

#include <cuda_runtime_api.h>

#include "backend/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Kernels of cuda_layers.cu. */

/* Rounds from[rows, columns] to bfloat16, to nearest, ties to even, into to[high, wide]. The
 * remaining numbers of `to` become 0. */
cudaError_t kernel_to_bf16(cudaStream_t stream, int rows, int columns, int high, int wide,
                           struct numbers from, uint16_t *to);
/* Computes y[outer][middle][inner] = activation(y + b[middle]); b may be NULL. */
cudaError_t kernel_add_bias(cudaStream_t stream, int outer, int middle, int inner, const float *b,
                            enum activation activation, float *y);
/* Computes y[rows, columns] = activation(from + b[columns]). Rows of `from` are `stride` numbers
 * apart. b.at may be NULL. */
cudaError_t kernel_compact(cudaStream_t stream, int rows, int columns, int stride,
                           const float *from, struct numbers b, enum activation activation,
                           struct numbers y);
#define COLUMN_PARTS 32 /* most partial sums per column in kernel_gradient_columns */

/* Overwrites the gradient of y[rows, columns] with the gradient before the activation. Unless
 * `rounded` is NULL, also writes it as bfloat16 to rounded[rows, wide], padded with zeros. Unless
 * `sums` is NULL, writes the sums of its columns to sums[columns], added in a fixed order.
 * scratch[COLUMN_PARTS, columns]: scratch buffer. */
cudaError_t kernel_gradient_columns(cudaStream_t stream, int rows, int columns, struct numbers y,
                                    enum activation activation, struct numbers gradient,
                                    uint16_t *rounded, int wide, float *scratch, float *sums);
#define SUM_PARTS 16 /* partial sums per plane in kernel_gradient_planes */

/* Overwrites the gradient of y[outer][middle][inner] with the gradient before the activation.
 * Unless `sums` is NULL, writes the sum for each index of the middle dimension to sums[middle].
 * parts[middle, SUM_PARTS]: scratch buffer. */
cudaError_t kernel_gradient_planes(cudaStream_t stream, int outer, int middle, int inner,
                                   const float *y, enum activation activation, float *gradient,
                                   float *parts, float *sums);
/* Swaps the first two dimensions: to[j][i][inner] = activation(from[i][j][inner] + bias[i]), i <
 * outer, j < middle. bias may be NULL. */
cudaError_t kernel_swap(cudaStream_t stream, int outer, int middle, int inner, const float *from,
                        const float *bias, enum activation activation, float *to);
/* kernel_patches writes columns[channels·kernel·kernel][images][output positions]: the input under
 * each weight of a filter at each output position. kernel_unpatch is its backward pass: each input
 * gets the sum over its copies in `columns`. */
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

/* Computes the cross-entropy (loss_operations in backend.h). Rows of logits and of dlogits are
 * `stride` numbers apart. row_scores[rows]: scratch buffer. */
cudaError_t kernel_cross_entropy(cudaStream_t stream, struct cross_entropy loss, int stride,
                                 const float *logits, const int32_t *labels, float *dlogits,
                                 struct score *row_scores, struct score *score);
/* Computes the cross-entropy with dlogits rounded to bfloat16. Sets columns `classes` to `stride` -
 * 1 of dlogits to 0. */
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
