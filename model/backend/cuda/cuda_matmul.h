/* Matrix products, over cuBLASLt. */
#ifndef HEARSAY_MODEL_BACKEND_CUDA_CUDA_MATMUL_H
#define HEARSAY_MODEL_BACKEND_CUDA_CUDA_MATMUL_H

#include <cublasLt.h>

#include "backend/cuda/cuda.h"

/* Operand of a matrix product. Both operands have the same type, float32 or bfloat16. */
struct operand {
    const void *numbers;
    cudaDataType type;
    int stride; /* numbers from one row to the next; 0 = rows are adjacent */
};

struct result {
    void *numbers;
    cudaDataType type;
    int stride; /* numbers from one row to the next; 0 = rows are adjacent */
};

#define cuda_floats(from)  ((struct operand){.numbers = (from), .type = CUDA_R_32F})
#define cuda_to_floats(to) ((struct result){.numbers = (to), .type = CUDA_R_32F})

/* Product c[m,n] = epilogue(alpha·a·b + beta·c), row major. a[m,k] and b[k,n] are stored transposed
 * if turn_a and turn_b say so. */
struct product {
    cublasOperation_t turn_a, turn_b;
    int m, n, k;
    float alpha, beta;
    struct operand a, b;
    struct result c;
    cublasLtEpilogue_t epilogue;
    const void *bias; /* [n] biases in the type of c, if the epilogue adds biases */
    float *a_sums;    /* [m] output of epilogue BGRADB: sums of a's rows, the gradients of biases */
    void *before;     /* [m, n] in c's type; written by epilogue GELU_AUX_BIAS, read by DGELU */
};

/* Computes the product. Returns false, and does nothing, if no algorithm has the epilogue, or
 * a_sums or `before` is not aligned to 16 bytes. */
bool cuda_multiply(struct cuda *cuda, const struct product *product);
/* cuda_gemm_onto computes c = alpha·a·b + beta·c, cuda_gemm c = a·b; c is float32. */
void cuda_gemm_onto(struct cuda *cuda, cublasOperation_t turn_a, cublasOperation_t turn_b, int m,
                    int n, int k, float alpha, struct operand a, struct operand b, float beta,
                    float *c);
void cuda_gemm(struct cuda *cuda, cublasOperation_t turn_a, cublasOperation_t turn_b, int m, int n,
               int k, struct operand a, struct operand b, float *c);
void cuda_gemm_close(struct cuda *cuda);

#endif
