/* The kernels of the exchange (cuda_kernels.h).
 *
 *   backend_cuda_exchange.c ──► these ──► cuda_exchange.cu ──► stream
 *
 * They do the CPU's arithmetic, bit for bit (except the bits of a NaN).
 */
#ifndef HEARSAY_MODEL_BACKEND_CUDA_CUDA_EXCHANGE_KERNELS_H
#define HEARSAY_MODEL_BACKEND_CUDA_CUDA_EXCHANGE_KERNELS_H

#include <cuda_runtime_api.h>

#include "backend/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whether the kernels were compiled for this kind of device, or can be translated for it; and how
 * many blocks of the survey one of its processors runs at once. */
cudaError_t kernels_fit(int *survey_blocks);

/* A bit for each entry, in whole lines, and for each line how many bits are set before it. */
struct bitmap {
    uint32_t *bits;   /* [bitmap_lines, BITMAP_WORDS] */
    uint32_t *before; /* [bitmap_lines] */
};

#define BITMAP_WORDS 32
#define BITMAP_LINE  (BITMAP_WORDS * 32) /* entries */

static inline size_t bitmap_lines(size_t count)
{
    return (count + BITMAP_LINE - 1) / BITMAP_LINE;
}

/* Returns the scratch bytes of a scan over `count` numbers. */
size_t kernel_scan_bytes(size_t count);
/* numbers[i] becomes the sum of all before it. */
cudaError_t kernel_scan(cudaStream_t stream, void *room, size_t room_bytes, size_t count,
                        uint32_t *numbers);

/* The survey: counts into cleared bins, sets bitmap.bits of the candidates, and in bitmap.before
 * how many are set in each line (to be scanned). blocks: as many as the device holds at once. base
 * begins at a multiple of SURVEY_ALIGNMENT, and w also where it is flat. */
#define SURVEY_ALIGNMENT 16
cudaError_t kernel_survey(cudaStream_t stream, int blocks, const struct survey *survey,
                          size_t count, struct weights w, const int32_t *base, uint32_t *bins,
                          struct bitmap bitmap);
/* Lists the entries whose bits are set, as many as there is room for; *found: how many are set. */
cudaError_t kernel_pick(cudaStream_t stream, size_t count, struct bitmap bitmap,
                        uint32_t *candidates, uint32_t candidates_max, uint32_t *found);
/* Counts into cleared parts. */
cudaError_t kernel_refine(cudaStream_t stream, uint32_t found, const uint32_t *candidates,
                          struct weights w, const int32_t *base, uint32_t bin, uint32_t *parts);

/* A cut, in three steps: kernel_levels, a scan of published_before, kernel_cut. */
struct cut {
    float tau;                  /* threshold */
    float beta;                 /* outer momentum */
    float level_max;            /* of any level */
    uint32_t amount;            /* quanta per level */
    uint32_t found;             /* candidates */
    uint32_t capacity;          /* entries published at most: the first ones */
    const uint32_t *candidates; /* [found] */
    int8_t *levels;             /* [found]: of each candidate; 0: not published */
    uint32_t
        *published_before; /* [found]: 1 where there is a level; scanned: how many lie before */
    uint32_t *index;       /* [capacity]: of the entries published */
    int8_t *level;         /* [capacity]: of the entries published */
    uint32_t *count;       /* entries published */
};
cudaError_t kernel_levels(cudaStream_t stream, struct cut cut, struct weights w,
                          const int32_t *base);
cudaError_t kernel_cut(cudaStream_t stream, struct cut cut, struct weights w, int32_t *base);

/* index and level of the update lie on the device. */
cudaError_t kernel_apply(cudaStream_t stream, const struct update *update, float beta, bool own,
                         struct weights w, int32_t *base);
cudaError_t kernel_hold(cudaStream_t stream, size_t count, float part, struct weights w,
                        const int32_t *base, uint16_t *held);
cudaError_t kernel_release(cudaStream_t stream, size_t count, const uint16_t *held,
                           struct weights w);
cudaError_t kernel_let_go(cudaStream_t stream, const struct update *update, float part,
                          uint16_t *held);
cudaError_t kernel_rebase(cudaStream_t stream, size_t first, size_t count, const int32_t *to,
                          struct weights w, int32_t *base);
/* The same: sums[3] become Σ k·r, Σ r² and Σ k². */
cudaError_t kernel_agreement(cudaStream_t stream, const struct update *update, struct weights w,
                             const int32_t *base, double *sums);
/* Adds to digest[2], low and high lane. */
cudaError_t kernel_digest(cudaStream_t stream, size_t count, const int32_t *base, uint32_t *digest);
cudaError_t kernel_follow(cudaStream_t stream, enum half_type type, size_t count,
                          const uint16_t *half, float *w);
cudaError_t kernel_round(cudaStream_t stream, enum half_type type, size_t count, const float *w,
                         uint16_t *half);
cudaError_t kernel_follow_moved(cudaStream_t stream, const struct update *update,
                                const struct weights_copy *copies, uint32_t count, float *w);
cudaError_t kernel_round_moved(cudaStream_t stream, const struct update *update,
                               const struct weights_copy *copies, uint32_t count, const float *w);

#ifdef __cplusplus
}
#endif

#endif
