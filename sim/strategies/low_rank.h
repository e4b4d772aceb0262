/* Approximates a matrix by the product of two thin ones, with one power iteration each time
 * (Vogels, Karimireddy, Jaggi 2019, arXiv 1905.13727, algorithm 1).
 *
 *   P = orthonormal(M·Q)    [rows, rank]
 *   Q = Mᵀ·P                [columns, rank], the start of the next iteration (warm start)
 *   M = P·Qᵀ                exact if M has no higher rank
 *
 * Tests: tests/unit/sim/test_powersgd.c.
 */
#ifndef HEARSAY_SIM_STRATEGIES_LOW_RANK_H
#define HEARSAY_SIM_STRATEGIES_LOW_RANK_H

#include <stddef.h>
#include <stdint.h>

#include "base/rng.h"

struct low_rank {
    size_t rows;
    size_t columns;
    uint32_t rank;
    float *left;  /* [rows][rank] left factor P */
    float *right; /* [columns][rank] right factor Q */
    struct rng rng;
};

/* Requires 0 < rank <= rows and rank <= columns. seed: for the first Q, and for replacements of
 * dependent columns of P. */
void low_rank_init(struct low_rank *factors, size_t rows, size_t columns, uint32_t rank,
                   uint64_t seed);
void low_rank_free(struct low_rank *factors);

/* Replaces matrix[rows][columns] by P·Qᵀ. */
void low_rank_approximate(struct low_rank *factors, float *matrix);

#endif
