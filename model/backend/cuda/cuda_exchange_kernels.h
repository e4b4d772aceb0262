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

/* Returns whether the kernels were compiled for this kind of device, or can be translated for it.
 * Sets the number of survey blocks that one of its processors runs at once. */
cudaError_t kernels_fit(int *survey_blocks);

/* A bit for each entry, in whole lines, and for each line the number of bits set before it. */
struct bitmap {
    uint32_t *bits;   /* [bitmap_lines, BITMAP_WORDS] bits of the entries */
    uint32_t *before; /* [bitmap_lines] number of bits set before each line */
};

#define BITMAP_WORDS 32
#define BITMAP_LINE  (BITMAP_WORDS * 32) /* entries */

static inline size_t bitmap_lines(size_t count)
{
    return (count + BITMAP_LINE - 1) / BITMAP_LINE;
}

/* Returns the scratch bytes of a scan over `count` numbers. */
size_t kernel_scan_bytes(size_t count);
/* Replaces numbers[i] by the sum of all numbers before it. */
cudaError_t kernel_scan(cudaStream_t stream, void *scratch, size_t scratch_bytes, size_t count,
                        uint32_t *numbers);

/* The survey: counts into cleared bins, sets bitmap.bits of the candidates, and in bitmap.before
 * how many are set in each line (to be scanned). blocks: as many as the device holds at once. base
 * begins at a multiple of SURVEY_ALIGNMENT, and w also where it is flat. */
#define SURVEY_ALIGNMENT 16
cudaError_t kernel_survey(cudaStream_t stream, int blocks, const struct survey *survey,
                          size_t count, struct weights w, const int32_t *base, uint32_t *bins,
                          struct bitmap bitmap);
/* Lists the entries whose bits are set, as many as fit; *found: number of bits set. */
cudaError_t kernel_pick(cudaStream_t stream, size_t count, struct bitmap bitmap,
                        uint32_t *candidates, uint32_t candidates_max, uint32_t *found);
/* Counts into cleared parts of a bin. */
cudaError_t kernel_refine(cudaStream_t stream, uint32_t found, const uint32_t *candidates,
                          struct weights w, const int32_t *base, uint32_t bin, uint32_t *parts);

/* A cut, in three steps: kernel_levels, a scan of published_before, kernel_cut. */
struct cut {
    float tau;                  /* threshold */
    float beta;                 /* outer momentum */
    float level_max;            /* largest level */
    uint32_t amount;            /* quanta per level */
    uint32_t found;             /* number of candidates */
    uint32_t capacity;          /* most published entries; further ones are not published */
    const uint32_t *candidates; /* [found] */
    int8_t *levels;             /* [found] level of each candidate; 0 = not published */
    uint32_t *published_before; /* [found] 1 where there is a level; after the scan, the number of
                                   levels before */
    uint32_t *index;            /* [capacity] indices of the published entries */
    int8_t *level;              /* [capacity] levels of the published entries */
    uint32_t *count;            /* number of published entries */
};
cudaError_t kernel_levels(cudaStream_t stream, struct cut cut, struct weights w,
                          const int32_t *base);
cudaError_t kernel_cut(cudaStream_t stream, struct cut cut, struct weights w, int32_t *base);

/* Applies an update whose index and level are on the device. */
cudaError_t kernel_apply(cudaStream_t stream, const struct update *update, float beta, bool own,
                         struct weights w, int32_t *base);
cudaError_t kernel_withhold(cudaStream_t stream, size_t count, float part, struct weights w,
                            const int32_t *base, uint16_t *withheld);
cudaError_t kernel_release(cudaStream_t stream, size_t count, const uint16_t *withheld,
                           struct weights w);
cudaError_t kernel_let_go(cudaStream_t stream, const struct update *update, float part,
                          uint16_t *withheld);
cudaError_t kernel_rebase(cudaStream_t stream, size_t first, size_t count, const int32_t *to,
                          struct weights w, int32_t *base);
/* Computes the sums of an agreement: sums[3] = Σ k·r, Σ r² and Σ k². */
cudaError_t kernel_agreement(cudaStream_t stream, const struct update *update, struct weights w,
                             const int32_t *base, double *sums);
/* Adds the base's digest to digest[2], low and high lane. */
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
