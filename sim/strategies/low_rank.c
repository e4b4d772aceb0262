#include "strategies/low_rank.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

/* A column is linearly dependent if project_out leaves at most this fraction of its length. */
#define LEAST_PART 1e-5

static float draw_entry(struct rng *rng)
{
    return (float)(rng_uniform(rng) - 0.5);
}

void low_rank_init(struct low_rank *factors, size_t rows, size_t columns, uint32_t rank,
                   uint64_t seed)
{
    CHECK(rank > 0 && rank <= rows && rank <= columns);
    *factors = (struct low_rank){.rows = rows,
                                 .columns = columns,
                                 .rank = rank,
                                 .left = memory_new(rows * rank, sizeof *factors->left),
                                 .right = memory_new(columns * rank, sizeof *factors->right),
                                 .rng = rng_new(seed, 0)};
    for (size_t c = 0; c < columns * rank; c++)
        factors->right[c] = draw_entry(&factors->rng);
}

void low_rank_free(struct low_rank *factors)
{
    free(factors->left);
    free(factors->right);
}

static double product(const float *values, size_t rows, uint32_t rank, uint32_t a, uint32_t b)
{
    double sum = 0;
    for (size_t row = 0; row < rows; row++)
        sum += (double)values[row * rank + a] * values[row * rank + b];
    return sum;
}

/* Subtracts from column k its projections on all earlier columns, twice to remove rounding errors.
 * Returns the fraction of the column's length that remains. */
static double project_out(float *values, size_t rows, uint32_t rank, uint32_t k)
{
    const double before = product(values, rows, rank, k, k);
    for (uint32_t turn = 0; turn < 2 * k; turn++) {
        const uint32_t other = turn % k;
        const double along = product(values, rows, rank, k, other);
        for (size_t row = 0; row < rows; row++)
            values[row * rank + k] -= (float)(along * values[row * rank + other]);
    }
    return before > 0 ? sqrt(product(values, rows, rank, k, k) / before) : 0;
}

/* Orthonormalizes the columns of values[rows][rank] (Gram-Schmidt). Replaces linearly dependent
 * columns by random ones. */
static void orthonormalise(float *values, size_t rows, uint32_t rank, struct rng *rng)
{
    for (uint32_t k = 0; k < rank; k++) {
        while (project_out(values, rows, rank, k) <= LEAST_PART)
            for (size_t row = 0; row < rows; row++)
                values[row * rank + k] = draw_entry(rng);
        const double length = sqrt(product(values, rows, rank, k, k));
        for (size_t row = 0; row < rows; row++)
            values[row * rank + k] = (float)(values[row * rank + k] / length);
    }
}

void low_rank_approximate(struct low_rank *factors, float *matrix)
{
    const size_t rows = factors->rows, columns = factors->columns, rank = factors->rank;
    float *left = factors->left, *right = factors->right;
    memset(left, 0, rows * rank * sizeof *left);
    for (size_t row = 0; row < rows; row++)
        for (size_t column = 0; column < columns; column++)
            for (size_t k = 0; k < rank; k++)
                left[row * rank + k] += matrix[row * columns + column] * right[column * rank + k];
    orthonormalise(left, rows, factors->rank, &factors->rng);
    memset(right, 0, columns * rank * sizeof *right);
    for (size_t row = 0; row < rows; row++)
        for (size_t column = 0; column < columns; column++)
            for (size_t k = 0; k < rank; k++)
                right[column * rank + k] += matrix[row * columns + column] * left[row * rank + k];
    memset(matrix, 0, rows * columns * sizeof *matrix);
    for (size_t row = 0; row < rows; row++)
        for (size_t column = 0; column < columns; column++)
            for (size_t k = 0; k < rank; k++)
                matrix[row * columns + column] += left[row * rank + k] * right[column * rank + k];
}
