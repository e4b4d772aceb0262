/* A tensor as a matrix: its rows are the first dimension, its columns all other dimensions; a
 * vector is one row. Each tensor is contiguous in the model's flat vector. Tests:
 * tests/unit/sim/test_powersgd.c, test_onebit.c, test_dgc.c and test_demo.c. */
#ifndef HEARSAY_SIM_STRATEGIES_MATRIX_H
#define HEARSAY_SIM_STRATEGIES_MATRIX_H

#include <stddef.h>

#include "layers/model.h"

struct matrix {
    size_t offset; /* index of the matrix's first entry in the flat vector */
    size_t rows;
    size_t columns;
};

static inline struct matrix matrix_of(const struct tensor *tensor)
{
    struct matrix matrix = {.offset = tensor->offset, .rows = 1, .columns = tensor->dims[0]};
    if (tensor->rank > 1)
        matrix = (struct matrix){.offset = tensor->offset, .rows = tensor->dims[0], .columns = 1};
    for (int d = 1; d < tensor->rank; d++)
        matrix.columns *= tensor->dims[d];
    return matrix;
}

#endif
