/* See cublas_v2.h. */
#include <cblas.h>

#include "cublas_v2.h"
#include "cuda_runtime.h"

struct stand_in_blas {
    cudaStream_t stream;
};

const char *cublasGetStatusString(cublasStatus_t status)
{
    return status == CUBLAS_STATUS_SUCCESS ? "success" : "an invalid value was passed";
}

cublasStatus_t cublasCreate(cublasHandle_t *blas)
{
    *blas = new stand_in_blas();
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy(cublasHandle_t blas)
{
    delete blas;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream(cublasHandle_t blas, cudaStream_t stream)
{
    blas->stream = stream;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetWorkspace(cublasHandle_t, void *room, size_t bytes)
{
    return stand_in_is_device_memory(room, bytes) ? CUBLAS_STATUS_SUCCESS
                                                  : CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasGemmEx(cublasHandle_t blas, cublasOperation_t turn_a, cublasOperation_t turn_b,
                            int m, int n, int k, const void *alpha, const void *a, cudaDataType,
                            int stride_a, const void *b, cudaDataType, int stride_b,
                            const void *beta, void *c, cudaDataType, int stride_c,
                            cublasComputeType_t, cublasGemmAlgo_t)
{
    const float scale = *(const float *)alpha, kept = *(const float *)beta;
    const CBLAS_TRANSPOSE way_a = turn_a == CUBLAS_OP_N ? CblasNoTrans : CblasTrans;
    const CBLAS_TRANSPOSE way_b = turn_b == CUBLAS_OP_N ? CblasNoTrans : CblasTrans;
    const cudaError_t error = stand_in_submit(blas->stream, [=] {
        cblas_sgemm(CblasColMajor, way_a, way_b, m, n, k, scale, (const float *)a, stride_a,
                    (const float *)b, stride_b, kept, (float *)c, stride_c);
    });
    return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}
