/* See cublasLt.h. */
#include "cublasLt.h"
#include "cuda_runtime.h"

#define ROOM_BYTES 4096 /* that each algorithm wants */

struct stand_in_matmul {
    cublasComputeType_t compute;
    cublasOperation_t turn_a;
    uint32_t epilogue;
    const float *bias;
};

struct stand_in_matrix {
    cudaDataType type;
    uint64_t rows, columns;
    int64_t stride;
};

struct stand_in_preference {
    uint64_t room_bytes;
    uint32_t reductions;
    uint32_t aligned[4]; /* A to D */
};

/* What an algorithm was chosen for. */
enum { ROWS, COLUMNS, DEPTH, KIND, BIAS_ALIGNED, A_ALIGNED, B_ALIGNED, D_ALIGNED };

template <typename Value> static cublasStatus_t take(Value *to, const void *value, size_t bytes)
{
    if (bytes != sizeof *to)
        return CUBLAS_STATUS_INVALID_VALUE;
    memcpy(to, value, bytes);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *how, cublasComputeType_t compute,
                                        cudaDataType scale)
{
    *how = new stand_in_matmul{compute, CUBLAS_OP_N, 0, NULL};
    return scale == CUDA_R_32F ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t how)
{
    delete how;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t how,
                                              cublasLtMatmulDescAttributes_t attribute,
                                              const void *value, size_t bytes)
{
    if (attribute == CUBLASLT_MATMUL_DESC_TRANSA)
        return take(&how->turn_a, value, bytes);
    if (attribute == CUBLASLT_MATMUL_DESC_EPILOGUE)
        return take(&how->epilogue, value, bytes);
    return take(&how->bias, value, bytes);
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *matrix, cudaDataType type,
                                          uint64_t rows, uint64_t columns, int64_t stride)
{
    *matrix = new stand_in_matrix{type, rows, columns, stride};
    return stride >= (int64_t)rows ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t matrix)
{
    delete matrix;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *preference)
{
    *preference = new stand_in_preference{0, 7, {256, 256, 256, 256}};
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference)
{
    delete preference;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t attribute,
                                                    const void *value, size_t bytes)
{
    if (attribute == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES)
        return take(&preference->room_bytes, value, bytes);
    if (attribute == CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK)
        return take(&preference->reductions, value, bytes);
    return take(&preference->aligned[attribute - CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES], value,
                bytes);
}

/* The largest power of two, up to 256, of which it is a multiple. */
static uint64_t alignment_of(const void *memory)
{
    const uint64_t bits = (uint64_t)(uintptr_t)memory | 256;
    return bits & (~bits + 1);
}

static uint64_t kind_of(cublasLtMatmulDesc_t how, cublasLtMatrixLayout_t a)
{
    return (uint64_t)a->type << 32 | how->epilogue;
}

static bool fit(cublasLtMatmulDesc_t how, cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d)
{
    const cublasComputeType_t compute = a->type == CUDA_R_32F ? how->compute : CUBLAS_COMPUTE_32F;
    return how->turn_a == CUBLAS_OP_T && a->type == b->type && c == d && d->type == CUDA_R_32F &&
           how->compute == compute && a->rows == b->rows && a->columns == d->rows &&
           b->columns == d->columns &&
           (how->epilogue == CUBLASLT_EPILOGUE_BIAS ||
            how->epilogue == CUBLASLT_EPILOGUE_RELU_BIAS);
}

/* There is none for a single output, so that what is done then is tested, too. */
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t how,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int count,
                                              cublasLtMatmulHeuristicResult_t *results, int *found)
{
    *found = 0;
    if (!fit(how, a, b, c, d) || count != 1 || preference->room_bytes < ROOM_BYTES ||
        preference->reductions & CUBLASLT_REDUCTION_SCHEME_INPLACE || how->bias == NULL)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (d->rows == 1)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    uint64_t *data = results->algo.data;
    data[ROWS] = d->rows;
    data[COLUMNS] = d->columns;
    data[DEPTH] = a->rows;
    data[KIND] = kind_of(how, a);
    data[BIAS_ALIGNED] = alignment_of(how->bias);
    data[A_ALIGNED] = preference->aligned[0];
    data[B_ALIGNED] = preference->aligned[1];
    data[D_ALIGNED] = preference->aligned[2] | preference->aligned[3];
    results->workspaceSize = ROOM_BYTES;
    results->state = CUBLAS_STATUS_SUCCESS;
    *found = 1;
    return CUBLAS_STATUS_SUCCESS;
}

static bool was_chosen_for(const uint64_t *data, cublasLtMatmulDesc_t how, cublasLtMatrixLayout_t a,
                           cublasLtMatrixLayout_t d)
{
    return data[ROWS] == d->rows && data[COLUMNS] == d->columns && data[DEPTH] == a->rows &&
           data[KIND] == kind_of(how, a);
}

/* The bias for some algorithms at 16 bytes, whatever was said. */
static bool is_aligned(const uint64_t *data, const void *bias, const void *a, const void *b,
                       const void *d)
{
    const uint64_t of_bias = alignment_of(bias);
    return of_bias >= 16 && of_bias >= data[BIAS_ALIGNED] && alignment_of(a) >= data[A_ALIGNED] &&
           alignment_of(b) >= data[B_ALIGNED] && alignment_of(d) >= data[D_ALIGNED];
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t blas, cublasLtMatmulDesc_t how, const void *alpha,
                              const void *a, cublasLtMatrixLayout_t of_a, const void *b,
                              cublasLtMatrixLayout_t of_b, const void *beta, const void *c,
                              cublasLtMatrixLayout_t of_c, void *d, cublasLtMatrixLayout_t of_d,
                              const cublasLtMatmulAlgo_t *algorithm, void *room, size_t room_bytes,
                              cudaStream_t stream)
{
    const int m = (int)of_d->rows, n = (int)of_d->columns, k = (int)of_a->rows;
    const float *bias = how->bias;
    const bool rectified = how->epilogue == CUBLASLT_EPILOGUE_RELU_BIAS;
    const size_t stride = (size_t)of_d->stride;
    if (!fit(how, of_a, of_b, of_c, of_d) || !was_chosen_for(algorithm->data, how, of_a, of_d) ||
        !is_aligned(algorithm->data, bias, a, b, d) ||
        !stand_in_is_device_memory(bias, (size_t)m * sizeof *bias) || room_bytes < ROOM_BYTES ||
        !stand_in_is_device_memory(room, room_bytes) || c != d)
        return CUBLAS_STATUS_INVALID_VALUE;
    const cublasStatus_t status =
        cublasGemmEx(blas, CUBLAS_OP_T, CUBLAS_OP_N, m, n, k, alpha, a, of_a->type,
                     (int)of_a->stride, b, of_b->type, (int)of_b->stride, beta, d, of_d->type,
                     (int)of_d->stride, how->compute, CUBLAS_GEMM_DEFAULT);
    const cudaError_t error = stand_in_submit(stream, [=] {
        memset(room, 0xA5, ROOM_BYTES);
        for (size_t i = 0; i < (size_t)m * (size_t)n; i++) {
            float *to = (float *)d + i / (size_t)m * stride + i % (size_t)m;
            *to += bias[i % (size_t)m];
            *to = rectified && *to < 0 ? 0 : *to;
        }
    });
    return error == cudaSuccess ? status : CUBLAS_STATUS_INVALID_VALUE;
}
