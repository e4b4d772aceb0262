/* A matrix in chunks, each with its discrete cosine transform (DCT-II, orthonormal).
 *
 *   Y = R·X·Cᵀ    X: a chunk; R and C: bases for its height h and its width
 *   R[k][i] = √(1/h) for k = 0, else √(2/h)·cos(π·k·(2i + 1)/2h)
 *
 * A side of a chunk is the largest divisor of the matrix's side that is at most DCT_SIDE, so chunks
 * are equal and cover the matrix. Tests: tests/unit/sim/test_demo.c.
 */
#ifndef HEARSAY_SIM_STRATEGIES_DCT_H
#define HEARSAY_SIM_STRATEGIES_DCT_H

#include <stddef.h>

#define DCT_SIDE 64

struct dct {
    size_t rows;
    size_t columns;
    size_t height;      /* height of a chunk */
    size_t width;       /* width of a chunk */
    float *vertical[2]; /* [height][height] DCT basis R, and its transpose */
    float *across[2];   /* [width][width] DCT basis C, and its transpose */
};

void dct_init(struct dct *dct, size_t rows, size_t columns);
void dct_free(struct dct *dct);

/* dct_forward transforms matrix[rows][columns] to components, chunk after chunk. dct_backward is
 * the inverse. */
void dct_forward(const struct dct *dct, const float *matrix, float *components);
void dct_backward(const struct dct *dct, const float *components, float *matrix);

#endif
