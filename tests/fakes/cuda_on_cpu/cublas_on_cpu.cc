/* See cublas_v2.h. */
#include <cblas.h>
#include <vector>

#include "cublas_v2.h"
#include "cuda_runtime.h"

struct stand_in_blas {
    cudaStream_t stream;
};

const char *cublasGetStatusString(cublasStatus_t error)
{
    return error == CUBLAS_STATUS_SUCCESS ? "success" : "an invalid value was passed";
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

float stand_in_number(const void *from, cudaDataType type, size_t i)
{
    return __uint_as_float(type == CUDA_R_32F ? ((const uint32_t *)from)[i]
                                              : (uint32_t)((const uint16_t *)from)[i] << 16);
}

void stand_in_put_number(void *to, cudaDataType type, size_t i, float value)
{
    const uint32_t bits = __float_as_uint(value);
    if (type == CUDA_R_32F)
        ((float *)to)[i] = value;
    else
        ((uint16_t *)to)[i] =
            value != value ? 0x7FC0 : (uint16_t)((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

/* Returns the numbers at `from`, in `columns` columns. Gaps between columns are NaN, because no
 * product reads them. */
static std::vector<float> floats(const void *from, cudaDataType type, int stride, int rows,
                                 int columns)
{
    std::vector<float> all((size_t)stride * (size_t)columns, NAN);
    for (size_t i = 0; i < all.size(); i++) {
        if (i % (size_t)stride < (size_t)rows)
            all[i] = stand_in_number(from, type, i);
    }
    return all;
}

/* cuBLAS accepts operands with less alignment, but its products are then several times slower. */
static bool is_fast(const void *from, cudaDataType type, int stride)
{
    return type == CUDA_R_32F || ((uintptr_t)from % 16 == 0 && stride % 8 == 0);
}

cublasStatus_t stand_in_multiply(cublasHandle_t blas, cublasOperation_t turn_a,
                                 cublasOperation_t turn_b, int m, int n, int k, float alpha,
                                 const void *a, cudaDataType type_a, int stride_a, const void *b,
                                 cudaDataType type_b, int stride_b, float beta, void *c,
                                 cudaDataType type_c, int stride_c, cublasComputeType_t compute,
                                 const stand_in_epilogue &epilogue)
{
    if (type_a != type_b || (type_a == CUDA_R_32F && type_c != CUDA_R_32F) ||
        (type_a != CUDA_R_32F && compute != CUBLAS_COMPUTE_32F))
        return CUBLAS_STATUS_INVALID_VALUE;
    const int high_a = turn_a == CUBLAS_OP_N ? m : k, wide_a = turn_a == CUBLAS_OP_N ? k : m;
    const int high_b = turn_b == CUBLAS_OP_N ? k : n, wide_b = turn_b == CUBLAS_OP_N ? n : k;
    const bool reads_along_k = turn_a != CUBLAS_OP_N || turn_b == CUBLAS_OP_N;
    if (stride_a < high_a || stride_b < high_b || stride_c < m || !is_fast(a, type_a, stride_a) ||
        !is_fast(b, type_b, stride_b) || !is_fast(c, type_c, stride_c) ||
        (type_a != CUDA_R_32F && reads_along_k && k % 8 != 0))
        return CUBLAS_STATUS_INVALID_VALUE;
    const CBLAS_TRANSPOSE way_a = turn_a == CUBLAS_OP_N ? CblasNoTrans : CblasTrans;
    const CBLAS_TRANSPOSE way_b = turn_b == CUBLAS_OP_N ? CblasNoTrans : CblasTrans;
    const cudaError_t error = stand_in_submit(blas->stream, [=] {
        const std::vector<float> of_a = floats(a, type_a, stride_a, high_a, wide_a);
        const std::vector<float> of_b = floats(b, type_b, stride_b, high_b, wide_b);
        std::vector<float> sums((size_t)m * (size_t)n);
        const auto place = [=](size_t i) {
            return i / (size_t)m * (size_t)stride_c + i % (size_t)m;
        };
        for (size_t i = 0; beta != 0 && i < sums.size(); i++)
            sums[i] = stand_in_number(c, type_c, place(i));
        cblas_sgemm(CblasColMajor, way_a, way_b, m, n, k, alpha, of_a.data(), stride_a, of_b.data(),
                    stride_b, beta, sums.data(), m);
        if (epilogue)
            epilogue(sums);
        for (size_t i = 0; i < sums.size(); i++)
            stand_in_put_number(c, type_c, place(i), sums[i]);
    });
    return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasGemmEx(cublasHandle_t blas, cublasOperation_t turn_a, cublasOperation_t turn_b,
                            int m, int n, int k, const void *alpha, const void *a,
                            cudaDataType type_a, int stride_a, const void *b, cudaDataType type_b,
                            int stride_b, const void *beta, void *c, cudaDataType type_c,
                            int stride_c, cublasComputeType_t compute, cublasGemmAlgo_t)
{
    return stand_in_multiply(blas, turn_a, turn_b, m, n, k, *(const float *)alpha, a, type_a,
                             stride_a, b, type_b, stride_b, *(const float *)beta, c, type_c,
                             stride_c, compute, nullptr);
}

cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t blas, cublasOperation_t turn_a,
                                          cublasOperation_t turn_b, int m, int n, int k,
                                          const void *alpha, const void *a, cudaDataType type_a,
                                          int stride_a, long long next_a, const void *b,
                                          cudaDataType type_b, int stride_b, long long next_b,
                                          const void *beta, void *c, cudaDataType type_c,
                                          int stride_c, long long next_c, int count,
                                          cublasComputeType_t compute, cublasGemmAlgo_t algorithm)
{
    const size_t size_a = type_a == CUDA_R_32F ? 4 : 2, size_b = type_b == CUDA_R_32F ? 4 : 2;
    for (size_t i = 0; i < (size_t)count; i++) {
        const cublasStatus_t status = cublasGemmEx(
            blas, turn_a, turn_b, m, n, k, alpha, (const char *)a + i * (size_t)next_a * size_a,
            type_a, stride_a, (const char *)b + i * (size_t)next_b * size_b, type_b, stride_b, beta,
            (float *)c + i * (size_t)next_c, type_c, stride_c, compute, algorithm);
        if (status != CUBLAS_STATUS_SUCCESS)
            return status;
    }
    return count > 0 ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}
