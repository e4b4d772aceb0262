/* The kernels of the GPU: one function for each operation that needs kernels of our own.
 *
 *   backend_cuda_*.c ──► these ──► cuda_layers.cu, cuda_training.cu, cuda_exchange.cu ──► stream
 *
 * Each puts its work into the stream and returns; a failure there is reported later, to the call
 * that waits for it. Memory is the device's. backend.h says what the operations do; the
 * exchange does the CPU's arithmetic, bit for bit (but for the bits of a NaN).
 */
#ifndef HEARSAY_MODEL_BACKEND_CUDA_CUDA_KERNELS_H
#define HEARSAY_MODEL_BACKEND_CUDA_CUDA_KERNELS_H

#include <cuda_runtime_api.h>

#include "backend/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

/* cuda_layers.cu */

/* from[rows, columns] rounded to bfloat16, to the nearest, of two to the even one, to[high, wide];
 * zeros in the rest. */
cudaError_t kernel_to_bf16(cudaStream_t stream, int rows, int columns, int high, int wide,
                           const float *from, uint16_t *to);
/* y[outer][middle][inner] becomes activation(y + b[middle]); b may be NULL. */
cudaError_t kernel_add_bias(cudaStream_t stream, int outer, int middle, int inner, const float *b,
                            enum activation activation, float *y);
/* y[rows, columns] = activation(from + b[columns]), where rows of `from` begin `stride` numbers
 * apart; b may be NULL. */
cudaError_t kernel_compact(cudaStream_t stream, int rows, int columns, int stride,
                           const float *from, const float *b, enum activation activation, float *y);
/* The slope of y[rows, columns] becomes the one before the activation; it is written rounded to
 * bfloat16 to rounded[rows, wide], too, zeros in the rest, unless that is NULL; and added up to
 * sums[columns], in the same order always, unless that is NULL. room[COLUMN_PARTS, columns]. */
#define COLUMN_PARTS 32
cudaError_t kernel_slope_columns(cudaStream_t stream, int rows, int columns, const float *y,
                                 enum activation activation, float *slope, uint16_t *rounded,
                                 int wide, float *room, float *sums);
/* Likewise, of y[outer][middle][inner] to sums[middle], which may be NULL. parts[middle,
 * SUM_PARTS]: room. */
#define SUM_PARTS 16
cudaError_t kernel_slope_planes(cudaStream_t stream, int outer, int middle, int inner,
                                const float *y, enum activation activation, float *slope,
                                float *parts, float *sums);
/* to[j][i][inner] = activation(from[i][j][inner] + bias[i]), i < outer, j < middle; bias may be
 * NULL. */
cudaError_t kernel_swap(cudaStream_t stream, int outer, int middle, int inner, const float *from,
                        const float *bias, enum activation activation, float *to);
/* columns[channels·kernel·kernel][images][places of the output]: what each weight of a filter meets
 * at each place; and the way back, where each input gets the sum of what its copies got. */
cudaError_t kernel_patches(cudaStream_t stream, struct conv conv, int images, const float *x,
                           float *columns);
cudaError_t kernel_unpatch(cudaStream_t stream, struct conv conv, int images, const float *columns,
                           float *dx);
cudaError_t kernel_pool(cudaStream_t stream, struct pool pool, int batch, const float *x, float *y,
                        uint8_t *winner);
cudaError_t kernel_unpool(cudaStream_t stream, struct pool pool, int batch, const float *dy,
                          const uint8_t *winner, float *dx);
cudaError_t kernel_activate(cudaStream_t stream, enum activation activation, size_t count,
                            const float *x, float *y);
cudaError_t kernel_activate_backward(cudaStream_t stream, enum activation activation, size_t count,
                                     const float *kept, const float *dy, float *dx);

/* cuda_training.cu */

/* row_scores[rows]: room. */
cudaError_t kernel_cross_entropy(cudaStream_t stream, struct cross_entropy loss,
                                 const float *logits, const int32_t *labels, float *dlogits,
                                 struct score *row_scores, struct score *score);
cudaError_t kernel_squared_error(cudaStream_t stream, int rows, int width, int of, const float *y,
                                 const float *want, float *dy, struct score *row_scores,
                                 struct score *score);

/* cuda_exchange.cu */

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

/* Room that a scan over so many numbers needs beside them. */
size_t kernel_scan_bytes(size_t count);
/* numbers[i] becomes the sum of all before it. */
cudaError_t kernel_scan(cudaStream_t stream, void *room, size_t room_bytes, size_t count,
                        uint32_t *numbers);

/* The survey: takes the outer step, counts into cleared bins, sets bitmap.bits of the candidates,
 * and in bitmap.before how many are set in each line (to be scanned). blocks: as many as the device
 * holds at once. w, base and base_at_last_publish begin at multiples of SURVEY_ALIGNMENT. */
#define SURVEY_ALIGNMENT 16
cudaError_t kernel_survey(cudaStream_t stream, int blocks, const struct survey *survey,
                          size_t count, float *w, const int32_t *base,
                          int32_t *base_at_last_publish, uint32_t *bins, struct bitmap bitmap);
/* Lists the entries whose bits are set, as many as there is room for; *found: how many are set. */
cudaError_t kernel_pick(cudaStream_t stream, size_t count, struct bitmap bitmap,
                        uint32_t *candidates, uint32_t candidates_max, uint32_t *found);
/* Counts into cleared parts. */
cudaError_t kernel_refine(cudaStream_t stream, uint32_t found, const uint32_t *candidates,
                          const float *w, const int32_t *base, uint32_t bin, uint32_t *parts);

/* A cut, in three steps: kernel_levels, a scan of published_before, kernel_cut. */
struct cut {
    float tau;                  /* threshold */
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
cudaError_t kernel_levels(cudaStream_t stream, struct cut cut, const float *w, const int32_t *base);
cudaError_t kernel_cut(cudaStream_t stream, struct cut cut, float *w, int32_t *base);

/* index and level of the update lie on the device. */
cudaError_t kernel_apply(cudaStream_t stream, const struct update *update, bool own, float *w,
                         int32_t *base);
cudaError_t kernel_hold(cudaStream_t stream, size_t count, float part, float *w,
                        const int32_t *base, float *held);
cudaError_t kernel_let_go(cudaStream_t stream, const struct update *update, float part,
                          float *held);
cudaError_t kernel_rebase(cudaStream_t stream, size_t count, const int32_t *to, float *w,
                          int32_t *base);
/* The same: sums[3] become Σ k·r, Σ r² and Σ k². */
cudaError_t kernel_agreement(cudaStream_t stream, const struct update *update, const float *w,
                             const int32_t *base, double *sums);
/* Adds to digest[2], low and high lane. */
cudaError_t kernel_digest(cudaStream_t stream, size_t count, const int32_t *base, uint32_t *digest);
cudaError_t kernel_follow(cudaStream_t stream, enum half_type type, size_t count,
                          const uint16_t *half, float *w);
cudaError_t kernel_round(cudaStream_t stream, enum half_type type, size_t count, const float *w,
                         uint16_t *half);

#ifdef __cplusplus
}
#endif

#endif
