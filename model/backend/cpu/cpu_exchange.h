/* The operations of the exchange on the CPU: what backend.h says of them holds here. */
#ifndef HEARSAY_MODEL_BACKEND_CPU_CPU_EXCHANGE_H
#define HEARSAY_MODEL_BACKEND_CPU_CPU_EXCHANGE_H

#include "backend/backend.h"

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
void cpu_hold(struct backend *backend, size_t count, float part, float *w, const int32_t *base,
              float *held);
void cpu_let_go(struct backend *backend, const struct update *host_update, float part, float *held);
void cpu_rebase(struct backend *backend, size_t count, const int32_t *host_base, float *w,
                int32_t *base);
double cpu_agreement(struct backend *backend, const struct update *host_update, const float *w,
                     const int32_t *base);
uint64_t cpu_digest(struct backend *backend, size_t count, const int32_t *base);
void cpu_follow(struct backend *backend, enum half_type type, size_t count, const uint16_t *half,
                float *w);
void cpu_round(struct backend *backend, enum half_type type, size_t count, const float *w,
               uint16_t *half);

#endif
