/* The kernels of the optimizers (rules: cuda_kernels.h).
 *
 *   backend_cuda_optimizers.c ──► these functions ──► cuda_optimizers.cu ──► stream
 *
 * Sums are always added in the same order. The caller provides the scratch buffers; their content
 * may change between calls. The settings of an optimizer are in device memory. Gradients are
 * multiplied by *factor unless `factor` is NULL.
 */
#ifndef HEARSAY_MODEL_BACKEND_CUDA_CUDA_OPTIMIZERS_H
#define HEARSAY_MODEL_BACKEND_CUDA_CUDA_OPTIMIZERS_H

#include <cuda_runtime_api.h>

#include "backend/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CLIP_PARTS 1024 /* largest number of partial sums of squares */

/* Computes the clipping factor. squares[CLIP_PARTS]: scratch buffer. */
cudaError_t kernel_clip(cudaStream_t stream, const float *most, size_t count, double *squares,
                        const float *g, float *factor);
cudaError_t kernel_sgd(cudaStream_t stream, const struct sgd *sgd, const float *factor,
                       size_t count, float *w, const float *g, float *m);
/* Makes a step of LAMB. squares[2, CLIP_PARTS]: scratch buffer. */
cudaError_t kernel_lamb(cudaStream_t stream, const struct adam *adam, const float *factor,
                        size_t count, bool decays, double *squares, float *w, float *g, float *m,
                        float *v);
/* First part of a Muon step: updates the momentum m. Sets g to m or, by Nesterov's rule, to
 * g + momentum·m, scaled to norm 1. squares[CLIP_PARTS]: scratch buffer. */
cudaError_t kernel_muon_begin(cudaStream_t stream, const struct sgd *sgd, const float *factor,
                              size_t count, double *squares, float *g, float *m);
/* Last part of a Muon step: w -= rate · (scale·o + weight_decay·w). o: direction of the step (muon
 * in optimizers.h). */
cudaError_t kernel_muon_end(cudaStream_t stream, const struct sgd *sgd, size_t count, float scale,
                            const float *o, float *w);
cudaError_t kernel_scale(cudaStream_t stream, size_t count, float by, const float *x, float *y);
cudaError_t kernel_adam(cudaStream_t stream, const struct adam *adam, const float *factor,
                        size_t count, float *w, const float *g, float *m, float *v);

#ifdef __cplusplus
}
#endif

#endif
