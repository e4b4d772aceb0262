/* The exchange on the GPU (exchange_operations in backend.h). */
#ifndef HEARSAY_MODEL_BACKEND_CUDA_CUDA_EXCHANGE_H
#define HEARSAY_MODEL_BACKEND_CUDA_CUDA_EXCHANGE_H

#include "backend/backend.h"

void cuda_reserve(struct backend *backend, size_t count, uint32_t published);
uint32_t cuda_survey(struct backend *backend, const struct survey *survey, size_t count,
                     struct weights w, const int32_t *base, uint32_t host_bins[HISTOGRAM_BINS]);
void cuda_refine(struct backend *backend, uint32_t found, const uint32_t *candidates,
                 struct weights w, const int32_t *base, uint32_t bin,
                 uint32_t host_parts[BIN_PARTS]);
void cuda_cut(struct backend *backend, uint32_t found, const uint32_t *candidates, float beta,
              struct weights w, int32_t *base, uint32_t capacity, struct update *host_update);
void cuda_apply(struct backend *backend, const struct update *host_update, float beta,
                struct weights w, int32_t *base);
void cuda_apply_own(struct backend *backend, const struct update *host_update, float beta,
                    struct weights w, int32_t *base);
void cuda_withhold(struct backend *backend, size_t count, float part, struct weights w,
                   const int32_t *base, uint16_t *withheld);
void cuda_release(struct backend *backend, size_t count, const uint16_t *withheld,
                  struct weights w);
void cuda_let_go(struct backend *backend, const struct update *host_update, float part,
                 uint16_t *withheld);
void cuda_rebase(struct backend *backend, size_t first, size_t count, const int32_t *host_base,
                 struct weights w, int32_t *base);
double cuda_agreement(struct backend *backend, const struct update *host_update, struct weights w,
                      const int32_t *base);
uint64_t cuda_digest(struct backend *backend, size_t count, const int32_t *base);
void cuda_follow(struct backend *backend, enum half_type type, size_t count, const uint16_t *half,
                 float *w);
void cuda_round(struct backend *backend, enum half_type type, size_t count, const float *w,
                uint16_t *half);
void cuda_follow_moved(struct backend *backend, const struct update *host_update,
                       const struct weights_copy *copies, uint32_t count, float *w);
void cuda_round_moved(struct backend *backend, const struct update *host_update,
                      const struct weights_copy *copies, uint32_t count, const float *w);

#endif
