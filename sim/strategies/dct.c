#include "strategies/dct.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

#define PI 3.14159265358979323846

static size_t side_of(size_t side)
{
    size_t divisor = side < DCT_SIDE ? side : DCT_SIDE;
    while (side % divisor != 0)
        divisor--;
    return divisor;
}

/* Returns the DCT basis R[side][side] of dct.h, or the transpose of R if `turned` is true. */
static float *basis(size_t side, bool turned)
{
    float *basis = memory_new(side * side, sizeof *basis);
    const double all = (double)side;
    for (size_t k = 0; k < side; k++)
        for (size_t i = 0; i < side; i++)
            basis[turned ? i * side + k : k * side + i] =
                (float)(sqrt((k > 0 ? 2 : 1) / all) *
                        cos(PI * (double)k * (double)(2 * i + 1) / (2 * all)));
    return basis;
}

void dct_init(struct dct *dct, size_t rows, size_t columns)
{
    CHECK(rows > 0 && columns > 0);
    *dct = (struct dct){
        .rows = rows, .columns = columns, .height = side_of(rows), .width = side_of(columns)};
    for (int turned = 0; turned < 2; turned++) {
        dct->vertical[turned] = basis(dct->height, turned);
        dct->across[turned] = basis(dct->width, turned);
    }
}

void dct_free(struct dct *dct)
{
    for (int turned = 0; turned < 2; turned++) {
        free(dct->vertical[turned]);
        free(dct->across[turned]);
    }
}

/* Computes to[rows][columns] = a[rows][inner] · b[inner][columns]. Strides are the distances
 * between rows. */
static void multiply(const float *a, size_t rows, size_t inner, size_t columns, const float *b,
                     size_t b_stride, float *to, size_t to_stride)
{
    for (size_t row = 0; row < rows; row++) {
        float *out = to + row * to_stride;
        memset(out, 0, columns * sizeof *out);
        for (size_t k = 0; k < inner; k++)
            for (size_t column = 0; column < columns; column++)
                out[column] += a[row * inner + k] * b[k * b_stride + column];
    }
}

/* Computes to = a · from · b for one chunk, with a[height][height] and b[width][width]. */
static void transform(const struct dct *dct, const float *a, const float *from, size_t from_stride,
                      const float *b, float *to, size_t to_stride)
{
    const size_t height = dct->height, width = dct->width;
    float half_way[DCT_SIDE * DCT_SIDE];
    multiply(a, height, height, width, from, from_stride, half_way, width);
    multiply(half_way, height, width, width, b, width, to, to_stride);
}

void dct_forward(const struct dct *dct, const float *matrix, float *components)
{
    for (size_t top = 0; top < dct->rows; top += dct->height)
        for (size_t left = 0; left < dct->columns; left += dct->width) {
            transform(dct, dct->vertical[0], matrix + top * dct->columns + left, dct->columns,
                      dct->across[1], components, dct->width);
            components += dct->height * dct->width;
        }
}

void dct_backward(const struct dct *dct, const float *components, float *matrix)
{
    for (size_t top = 0; top < dct->rows; top += dct->height)
        for (size_t left = 0; left < dct->columns; left += dct->width) {
            transform(dct, dct->vertical[1], components, dct->width, dct->across[0],
                      matrix + top * dct->columns + left, dct->columns);
            components += dct->height * dct->width;
        }
}
