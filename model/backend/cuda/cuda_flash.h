/* Attention by cuDNN (cuda_flash_graph.h) or, where there is none, not at all.
 *
 *   attention, batch ──► plan of that shape ──► cuDNN ──► stream
 *                          └─ none: the caller's own kernels
 *
 * A plan is made when a shape first occurs, which takes a second or two. Each sample is computed by
 * itself: a backward pass whose workspace would exceed a sixteenth of the device's memory computes
 * some samples at a time. Where no plan can be made, a line on stderr says why, once in a process.
 */
#ifndef HEARSAY_MODEL_BACKEND_CUDA_CUDA_FLASH_H
#define HEARSAY_MODEL_BACKEND_CUDA_CUDA_FLASH_H

#include "backend/cuda/cuda.h"

/* As attention_forward and attention_backward of backend.h, of bfloat16. Return false if cuDNN
 * cannot compute it; then nothing was done. */
bool cuda_flash_forward(struct cuda *cuda, const struct attention *attention, int batch,
                        const uint16_t *x, uint16_t *y, float *log_sums);
bool cuda_flash_backward(struct cuda *cuda, const struct attention *attention, int batch,
                         const uint16_t *x, const uint16_t *y, const float *log_sums,
                         const uint16_t *dy, uint16_t *dx);
void cuda_flash_close(struct cuda *cuda);

#endif
