/* The CPU's operations that need no BLAS: plain loops, as backend.h describes them.
 *
 * None keeps state, so the backend is only passed along to fit the table of backend.h.
 * Here: cpu_layers.c and cpu_exchange.c (over exchange/survey_simd.c). The rest of the CPU is in backend_cpu.c.
 */
#ifndef HEARSAY_MODEL_BACKEND_CPU_CPU_H
#define HEARSAY_MODEL_BACKEND_CPU_CPU_H

#include "backend/backend.h"

/* cpu_layers.c */
void cpu_pool_forward(struct backend *backend, const struct pool *pool, int batch, const float *x,
                      float *y, uint8_t *winner);
void cpu_pool_backward(struct backend *backend, const struct pool *pool, int batch, const float *dy,
                       const uint8_t *winner, float *dx);
void cpu_activate(struct backend *backend, enum activation activation, size_t count, const float *x,
                  float *y);
void cpu_activate_backward(struct backend *backend, enum activation activation, size_t count,
                           const float *y, const float *dy, float *dx);
void cpu_cross_entropy(struct backend *backend, int batch, int classes, const float *logits,
                       const uint8_t *labels, float *dlogits, struct score *score);
void cpu_sgd(struct backend *backend, const struct sgd *sgd, size_t count, float *w, const float *g,
             float *m);
void cpu_adam(struct backend *backend, const struct adam *adam, size_t count, float *w,
              const float *g, float *m, float *v);
void cpu_gather(struct backend *backend, int batch, size_t sample_size, const uint8_t *pixels,
                const uint8_t *labels, const uint32_t *pick, float mean, float scale, float *x,
                uint8_t *y);

/* cpu_exchange.c */
uint32_t cpu_survey(struct backend *backend, const struct survey *survey, size_t count, float *w,
                    const int32_t *base, int32_t *base_at_last_publish,
                    uint32_t host_bins[HISTOGRAM_BINS]);
void cpu_refine(struct backend *backend, uint32_t found, const uint32_t *candidates, const float *w,
                const int32_t *base, uint32_t bin, uint32_t host_parts[BIN_PARTS]);
void cpu_cut(struct backend *backend, uint32_t found, const uint32_t *candidates, float *w,
             int32_t *base, uint32_t capacity, struct update *host_update);
void cpu_apply(struct backend *backend, const struct update *host_update, float *w, int32_t *base);
void cpu_apply_own(struct backend *backend, const struct update *host_update, float *w,
                   int32_t *base);
void cpu_rebase(struct backend *backend, size_t count, const int32_t *host_base, float *w,
                int32_t *base);
uint64_t cpu_digest(struct backend *backend, size_t count, const int32_t *base);

#endif
