/* Attention by cuDNN (cuda_flash_graph.h), if cuDNN is available.
 *
 *   attention, batch ──► plan for that shape ──► cuDNN ──► stream
 *                          └─ none: the caller uses our own kernels
 *
 * A plan is made when a shape first occurs, which takes a second or two. If the scores of a
 * backward pass would take more than 1/16 of the device's memory, the pass is computed for fewer
 * samples at a time. If cuDNN makes no plan for a shape that it should support, or one sample's
 * scores exceed that limit, a line on stderr says so, once per process. Shapes and tensors that
 * cuDNN does not support use our own kernels, and no line is printed.
 */
#ifndef HEARSAY_MODEL_BACKEND_CUDA_CUDA_FLASH_H
#define HEARSAY_MODEL_BACKEND_CUDA_CUDA_FLASH_H

#include "backend/cuda/cuda.h"

/* Both functions compute what attention_operations of backend.h describes, in bfloat16. They return
 * false, and do nothing, if cuDNN cannot compute this attention. */
bool cuda_flash_forward(struct cuda *cuda, const struct attention *attention, int batch,
                        const uint16_t *x, uint16_t *y, float *log_sums);
bool cuda_flash_backward(struct cuda *cuda, const struct attention *attention, int batch,
                         const uint16_t *x, const uint16_t *y, const float *log_sums,
                         const uint16_t *dy, uint16_t *dx);
void cuda_flash_close(struct cuda *cuda);

#endif
