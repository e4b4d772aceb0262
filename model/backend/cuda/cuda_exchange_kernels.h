/* The kernels of the exchange (rules: cuda_kernels.h).
 *
 *   backend_cuda_exchange.c ──► these functions ──► cuda_exchange.cu ──► stream
 *
 * Their results are equal to the CPU's bit for bit, except for the bits of a NaN and the sums of
 * kernel_agreement.
 */
#ifndef HEARSAY_MODEL_BACKEND_CUDA_CUDA_EXCHANGE_KERNELS_H
#define HEARSAY_MODEL_BACKEND_CUDA_CUDA_EXCHANGE_KERNELS_H

#include <cuda_runtime_api.h>

#include "backend/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns success if the kernels were compiled for this kind of device, or can be translated for
 * it. Sets *survey_blocks to the number of survey blocks that one multiprocessor runs at once. */
cudaError_t kernels_fit(int *survey_blocks);

/* A bit for each entry, in lines of BITMAP_LINE entries. */
struct bitmap {
    uint32_t *bits; /* [bitmap_lines, BITMAP_WORDS] bits of the entries */
    /* [bitmap_lines] after kernel_scan: number of bits set in all earlier lines */
    uint32_t *before;
};

#define BITMAP_WORDS 32
#define BITMAP_LINE  (BITMAP_WORDS * 32) /* entries per line */

static inline size_t bitmap_lines(size_t count)
{
    return (count + BITMAP_LINE - 1) / BITMAP_LINE;
}

/* Returns the scratch bytes that kernel_scan needs for `count` numbers. */
size_t kernel_scan_bytes(size_t count);
/* Replaces numbers[i] by the sum of all numbers before it (exclusive scan). */
cudaError_t kernel_scan(cudaStream_t stream, void *scratch, size_t scratch_bytes, size_t count,
                        uint32_t *numbers);

#define SURVEY_ALIGNMENT 16 /* alignment in bytes that kernel_survey needs */

/* The survey: counts entries in `bins`, which must be zeros, and sets the bits of candidates in
 * bitmap.bits. Sets bitmap.before[line] to the number of bits set in that line; kernel_scan then
 * sums these numbers. blocks: number of blocks that the device runs at once. base and w.flat must
 * be aligned to SURVEY_ALIGNMENT bytes. */
cudaError_t kernel_survey(cudaStream_t stream, int blocks, const struct survey *survey,
                          size_t count, struct weights w, const int32_t *base, uint32_t *bins,
                          struct bitmap bitmap);
/* Lists the entries whose bits are set, at most candidates_max. *found: number of bits set. */
cudaError_t kernel_pick(cudaStream_t stream, size_t count, struct bitmap bitmap,
                        uint32_t *candidates, uint32_t candidates_max, uint32_t *found);
/* Counts candidates in the parts of a bin; `parts` must be zeros. */
cudaError_t kernel_refine(cudaStream_t stream, uint32_t found, const uint32_t *candidates,
                          struct weights w, const int32_t *base, uint32_t bin, uint32_t *parts);

/* A cut, in three steps: kernel_levels, a scan of published_before, kernel_cut. */
struct cut {
    float tau;                  /* threshold of the update */
    float beta;                 /* outer momentum */
    float statistics_share;     /* part of a statistic's movement that moves the base */
    float level_max;            /* largest |level| to publish */
    uint32_t amount;            /* units by which the base moves per level */
    uint32_t found;             /* number of candidates */
    uint32_t capacity;          /* largest number of entries to publish */
    const uint32_t *candidates; /* [found] indices of entries */
    int8_t *levels;             /* [found] level of each candidate; 0 = not published */
    /* [found] 1 = published; after the scan: number of earlier published candidates. */
    uint32_t *published_before;
    uint32_t *index; /* [capacity] indices of the published entries */
    int8_t *level;   /* [capacity] levels of the published entries */
    uint32_t *count; /* number of published entries */
};
cudaError_t kernel_levels(cudaStream_t stream, struct cut cut, struct weights w,
                          const int32_t *base);
cudaError_t kernel_cut(cudaStream_t stream, struct cut cut, struct weights w, int32_t *base);

/* Applies an update whose index and level are in device memory. own: an earlier incarnation of this
 * node published it (apply_own in backend.h). */
cudaError_t kernel_apply(cudaStream_t stream, const struct update *update, float beta, bool own,
                         struct weights w, int32_t *base);
cudaError_t kernel_withhold(cudaStream_t stream, size_t count, float part, struct weights w,
                            const int32_t *base, uint16_t *withheld);
cudaError_t kernel_release(cudaStream_t stream, size_t count, const uint16_t *withheld,
                           struct weights w);
cudaError_t kernel_track(cudaStream_t stream, size_t count, bool companded, bool counts,
                         float pull, struct statistic at);
cudaError_t kernel_drop_covered(cudaStream_t stream, const struct update *update, float part,
                                uint16_t *withheld);
cudaError_t kernel_rebase(cudaStream_t stream, size_t first, size_t count, const int32_t *to,
                          struct weights w, int32_t *base);
/* Computes the sums of an agreement: sums[3] = Σ k·r, Σ r², Σ k², for levels k and residuals r. */
cudaError_t kernel_agreement(cudaStream_t stream, const struct update *update, struct weights w,
                             const int32_t *base, double *sums);
/* Adds the digest of the base to digest[0] (low 32 bits) and digest[1] (high 32 bits), each
 * modulo 2^32. */
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
