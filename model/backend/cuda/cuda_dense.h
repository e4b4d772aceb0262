/* Operands of matrix products, for dense layers and logits.
 *
 *   numbers ──cuda_operand──► themselves, or in bf16 a copy whose rows are padded with zeros
 */
#ifndef HEARSAY_MODEL_BACKEND_CUDA_CUDA_DENSE_H
#define HEARSAY_MODEL_BACKEND_CUDA_CUDA_DENSE_H

#include "backend/cuda/cuda_operations.h"

/* Returns the numbers from one row to the next if `columns` are padded to a multiple of 16
 * bytes. */
int cuda_padded(int columns);
/* Returns the terms of a product that are multiplied: in bf16 also the zeros after `count`. */
int cuda_depth(const struct cuda *cuda, int count);

/* Returns the next part of the scratch buffer, for rows[rows, columns] of bfloat16 with their
 * padding. */
uint16_t *cuda_rounded_part(struct layout *scratch, int rows, int columns);
struct operand cuda_rounded(const uint16_t *numbers, int columns);

/* Returns from[rows, columns] as an operand: `from` itself if its type and padding fit, otherwise a
 * copy in the scratch buffer, padded with rows of zeros to `high` rows. */
struct operand cuda_operand(struct cuda *cuda, struct layout *scratch, int rows, int high,
                            int columns, struct numbers from);
/* Adds the bytes of this copy to the layout. */
void cuda_operand_measure(const struct cuda *cuda, struct layout *layout, int rows, int high,
                          int columns, struct numbers from);

/* Writes a·b, of which `columns` columns count, to y[m, columns] in its type; product.c is set. */
void cuda_product_to(struct cuda *cuda, struct product *product, int columns, struct numbers y);
/* Returns the operand from this row on. columns: its stride if it has none. */
struct operand cuda_operand_from(struct operand operand, int row, int columns);

/* Computes dw[out, in] = dyᵀ·x of dy[batch, out] and x[batch, in]; if `adds`, dw += dyᵀ·x. */
void cuda_weight_gradient(struct cuda *cuda, int batch, int in, int out, struct operand dy,
                          struct operand x, bool adds, float *dw);

#endif
