/* A matrix said as the product of two thin ones, by one power iteration a time (Vogels,
 * Karimireddy, Jaggi 2019, arXiv 1905.13727, algorithm 1).
 *
 *   P = orthonormal(M·Q)    [rows, rank]
 *   Q = Mᵀ·P                [columns, rank], with which the next time begins (warm start)
 *   M = P·Qᵀ                exact where M has no higher rank
 *
 * Held by tests/unit/sim/test_powersgd.c.
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
    float *left;    /* [rows][rank]: P */
    float *right;   /* [columns][rank]: Q */
    struct rng rng; /* draws the first Q, and columns of P that depend on others */
};

/* 0 < rank <= rows and columns. Memory from malloc. */
void low_rank_init(struct low_rank *factors, size_t rows, size_t columns, uint32_t rank,
                   uint64_t seed);
void low_rank_free(struct low_rank *factors);

/* matrix[rows][columns] becomes P·Qᵀ. */
void low_rank_say(struct low_rank *factors, float *matrix);

#endif
