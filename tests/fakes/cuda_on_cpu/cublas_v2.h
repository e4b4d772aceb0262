/* The matrix products of cuBLAS, computed by OpenBLAS (cuda_runtime_api.h). */
#ifndef CUDA_ON_CPU_CUBLAS_H
#define CUDA_ON_CPU_CUBLAS_H

#include "cuda_runtime_api.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    CUBLAS_STATUS_SUCCESS,
    CUBLAS_STATUS_INVALID_VALUE,
    CUBLAS_STATUS_NOT_SUPPORTED
} cublasStatus_t;
typedef enum { CUBLAS_OP_N, CUBLAS_OP_T } cublasOperation_t;
typedef enum { CUDA_R_32F = 0, CUDA_R_16BF = 14 } cudaDataType;
typedef enum { CUBLAS_COMPUTE_32F, CUBLAS_COMPUTE_32F_FAST_TF32 } cublasComputeType_t;
typedef enum { CUBLAS_GEMM_DEFAULT = -1 } cublasGemmAlgo_t;
typedef struct stand_in_blas *cublasHandle_t;

const char *cublasGetStatusString(cublasStatus_t error);
cublasStatus_t cublasCreate(cublasHandle_t *blas);
cublasStatus_t cublasDestroy(cublasHandle_t blas);
cublasStatus_t cublasSetStream(cublasHandle_t blas, cudaStream_t stream);
cublasStatus_t cublasSetWorkspace(cublasHandle_t blas, void *room, size_t bytes);
cublasStatus_t cublasGemmEx(cublasHandle_t blas, cublasOperation_t turn_a, cublasOperation_t turn_b,
                            int m, int n, int k, const void *alpha, const void *a,
                            cudaDataType type_a, int stride_a, const void *b, cudaDataType type_b,
                            int stride_b, const void *beta, void *c, cudaDataType type_c,
                            int stride_c, cublasComputeType_t compute, cublasGemmAlgo_t algorithm);
cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t blas, cublasOperation_t turn_a,
                                          cublasOperation_t turn_b, int m, int n, int k,
                                          const void *alpha, const void *a, cudaDataType type_a,
                                          int stride_a, long long next_a, const void *b,
                                          cudaDataType type_b, int stride_b, long long next_b,
                                          const void *beta, void *c, cudaDataType type_c,
                                          int stride_c, long long next_c, int count,
                                          cublasComputeType_t compute, cublasGemmAlgo_t algorithm);

#ifdef __cplusplus
}

#include <functional>
#include <vector>

/* Changes a product's sums, in column order without gaps, before they are written. */
typedef std::function<void(std::vector<float> &)> stand_in_epilogue;

/* cublasGemmEx followed by an epilogue. */
cublasStatus_t stand_in_multiply(cublasHandle_t blas, cublasOperation_t turn_a,
                                 cublasOperation_t turn_b, int m, int n, int k, float alpha,
                                 const void *a, cudaDataType type_a, int stride_a, const void *b,
                                 cudaDataType type_b, int stride_b, float beta, void *c,
                                 cudaDataType type_c, int stride_c, cublasComputeType_t compute,
                                 const stand_in_epilogue &epilogue);
float stand_in_number(const void *from, cudaDataType type, size_t i);
void stand_in_put_number(void *to, cudaDataType type, size_t i, float value);
#endif

#endif
