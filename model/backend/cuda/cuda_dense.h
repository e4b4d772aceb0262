/* Operands of matrix products, for dense layers and logits.
 *
 *   numbers ──cuda_operand──► the numbers in place, or in bf16 a copy with rows padded by zeros
 */
#ifndef HEARSAY_MODEL_BACKEND_CUDA_CUDA_DENSE_H
#define HEARSAY_MODEL_BACKEND_CUDA_CUDA_DENSE_H

#include "backend/cuda/cuda_matmul.h"

/* Returns the length of a row of `columns` bfloat16 numbers that is padded to a multiple of 16
 * bytes. */
int cuda_padded(int columns);
/* Returns the length to use for a dimension of a product: `count`, or cuda_padded(count) in
 * bf16. */
int cuda_depth(const struct cuda *cuda, int count);

/* Returns the next part of the scratch buffer, for [rows, columns] bfloat16 numbers with padded
 * rows. cuda_rounded returns such numbers as an operand. */
uint16_t *cuda_rounded_part(struct layout *scratch, int rows, int columns);
struct operand cuda_rounded(const uint16_t *numbers, int columns);

/* Returns from[rows, columns] as an operand: `from` itself if its type and padding fit. Otherwise
 * makes a copy in the scratch buffer, with padded rows, and with rows of zeros up to `high`
 * rows. */
struct operand cuda_operand(struct cuda *cuda, struct layout *scratch, int rows, int high,
                            int columns, struct numbers from);
/* Adds to the layout the bytes of the copy that cuda_operand makes, if it makes a copy. */
void cuda_operand_measure(const struct cuda *cuda, struct layout *layout, int rows, int high,
                          int columns, struct numbers from);

/* Computes a·b and writes its first `columns` columns to y[m, columns], in y's type. Sets
 * product->c. */
void cuda_product_to(struct cuda *cuda, struct product *product, int columns, struct numbers y);
/* Returns the operand from row `row` on. columns: distance of its rows if operand.stride is 0. */
struct operand cuda_operand_from(struct operand operand, int row, int columns);

/* Computes dw[out, in] = dyᵀ·x from dy[batch, out] and x[batch, in]; if `adds`, dw += dyᵀ·x. */
void cuda_weight_gradient(struct cuda *cuda, int batch, int in, int out, struct operand dy,
                          struct operand x, bool adds, float *dw);

#endif
