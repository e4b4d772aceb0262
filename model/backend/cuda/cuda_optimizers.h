/* The kernels of the optimizers (cuda_kernels.h).
 *
 *   backend_cuda_optimizers.c ──► these ──► cuda_optimizers.cu ──► stream
 *
 * Every sum is added up in the same order each time. The caller provides the scratch buffers, whose
 * contents do not matter between operations. The settings are in device memory. Gradients are
 * multiplied by *factor, unless it is NULL.
 */
#ifndef HEARSAY_MODEL_BACKEND_CUDA_CUDA_OPTIMIZERS_H
#define HEARSAY_MODEL_BACKEND_CUDA_CUDA_OPTIMIZERS_H

#include <cuda_runtime_api.h>

#include "backend/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Clipping. squares[CLIP_PARTS]: scratch buffer. */
#define CLIP_PARTS 1024
cudaError_t kernel_clip(cudaStream_t stream, const float *most, size_t count, double *squares,
                        const float *g, float *factor);
cudaError_t kernel_sgd(cudaStream_t stream, const struct sgd *sgd, const float *factor,
                       size_t count, float *w, const float *g, float *m);
/* LAMB. squares[2, CLIP_PARTS]: scratch buffer. */
cudaError_t kernel_lamb(cudaStream_t stream, const struct adam *adam, const float *factor,
                        size_t count, bool decays, double *squares, float *w, float *g, float *m,
                        float *v);
/* Replaces g by the direction of its momentum, with norm 1. squares[CLIP_PARTS]: scratch buffer. */
cudaError_t kernel_muon_begin(cudaStream_t stream, const struct sgd *sgd, const float *factor,
                              size_t count, double *squares, float *g, float *m);
/* Computes w -= rate · (scale·o + weight_decay·w). */
cudaError_t kernel_muon_end(cudaStream_t stream, const struct sgd *sgd, size_t count, float scale,
                            const float *o, float *w);
cudaError_t kernel_scale(cudaStream_t stream, size_t count, float by, const float *x, float *y);
cudaError_t kernel_adam(cudaStream_t stream, const struct adam *adam, const float *factor,
                        size_t count, float *w, const float *g, float *m, float *v);

#ifdef __cplusplus
}
#endif

#endif
