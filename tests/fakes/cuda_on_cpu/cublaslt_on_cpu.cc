/* See cublasLt.h. */
#include "cublasLt.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "cuda_runtime.h"

#define ROOM_BYTES 4096 /* that each algorithm wants */

struct stand_in_matmul {
    cublasComputeType_t compute;
    cublasOperation_t turn_a, turn_b;
    uint32_t epilogue;
    const void *bias;
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

/* An algorithm's data: itself, and the product that it was listed for. */
enum { WHICH, ROWS, COLUMNS, DEPTH, TYPES, HOW, OPERANDS_ALIGNED, BIAS_ALIGNED };

/* Nanoseconds; each algorithm's every other run takes twice as long. */
static const double times_ns[STAND_IN_ALGORITHMS] = {[STAND_IN_SLOW] = 200,
                                                     [STAND_IN_UNABLE] = 1,
                                                     [STAND_IN_FAILING] = 1,
                                                     [STAND_IN_AS_FAST] = 103,
                                                     [STAND_IN_FASTEST] = 100};

static std::atomic<uint64_t> launches[STAND_IN_ALGORITHMS];

uint64_t stand_in_launches(int algorithm)
{
    return launches[algorithm];
}

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
    *how = new stand_in_matmul{compute, CUBLAS_OP_N, CUBLAS_OP_N, CUBLASLT_EPILOGUE_DEFAULT, NULL};
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
    if (attribute == CUBLASLT_MATMUL_DESC_TRANSB)
        return take(&how->turn_b, value, bytes);
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

static bool has_bias(cublasLtMatmulDesc_t how)
{
    return how->epilogue != CUBLASLT_EPILOGUE_DEFAULT;
}

static uint64_t depth_of(cublasLtMatmulDesc_t how, cublasLtMatrixLayout_t a)
{
    return how->turn_a == CUBLAS_OP_N ? a->columns : a->rows;
}

static uint64_t bits_of(cublasLtMatmulDesc_t how)
{
    return (uint64_t)how->epilogue << 2 | (uint64_t)how->turn_a << 1 | (uint64_t)how->turn_b;
}

static uint64_t types_of(cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t d)
{
    return (uint64_t)a->type << 32 | (uint64_t)d->type;
}

static bool fit(cublasLtMatmulDesc_t how, cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d)
{
    const cublasComputeType_t compute = a->type == CUDA_R_32F ? how->compute : CUBLAS_COMPUTE_32F;
    const uint64_t rows = how->turn_a == CUBLAS_OP_N ? a->rows : a->columns;
    const uint64_t columns = how->turn_b == CUBLAS_OP_N ? b->columns : b->rows;
    const uint64_t depth = how->turn_b == CUBLAS_OP_N ? b->rows : b->columns;
    return a->type == b->type && c == d && how->compute == compute &&
           (d->type == CUDA_R_32F || d->type == a->type) && depth == depth_of(how, a) &&
           rows == d->rows && columns == d->columns &&
           (how->epilogue == CUBLASLT_EPILOGUE_DEFAULT || how->epilogue == CUBLASLT_EPILOGUE_BIAS ||
            how->epilogue == CUBLASLT_EPILOGUE_RELU_BIAS);
}

/* There is none for a single output: this tests the caller's other way. */
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t how,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int count,
                                              cublasLtMatmulHeuristicResult_t *results, int *found)
{
    *found = 0;
    if (!fit(how, a, b, c, d) || count < 1 || preference->room_bytes < ROOM_BYTES ||
        preference->reductions & CUBLASLT_REDUCTION_SCHEME_INPLACE ||
        (has_bias(how) && how->bias == NULL)) {
        (void)fprintf(stderr, "CUDA on CPU: cuBLASLt is asked about an impossible product\n");
        abort();
    }
    if (d->rows == 1)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    for (int which = 0; which < STAND_IN_ALGORITHMS && which < count; which++) {
        cublasLtMatmulHeuristicResult_t *result = &results[(*found)++];
        uint64_t *data = result->algo.data;
        data[WHICH] = (uint64_t)which;
        data[ROWS] = d->rows;
        data[COLUMNS] = d->columns;
        data[DEPTH] = depth_of(how, a);
        data[TYPES] = types_of(a, d);
        data[HOW] = bits_of(how);
        data[OPERANDS_ALIGNED] = (uint64_t)preference->aligned[0] << 40 |
                                 (uint64_t)preference->aligned[1] << 20 |
                                 (preference->aligned[2] | preference->aligned[3]);
        data[BIAS_ALIGNED] = has_bias(how) ? alignment_of(how->bias) : 0;
        result->workspaceSize = ROOM_BYTES;
        result->state =
            which == STAND_IN_UNABLE ? CUBLAS_STATUS_NOT_SUPPORTED : CUBLAS_STATUS_SUCCESS;
    }
    return CUBLAS_STATUS_SUCCESS;
}

static bool was_listed_for(const uint64_t *data, cublasLtMatmulDesc_t how, cublasLtMatrixLayout_t a,
                           cublasLtMatrixLayout_t d)
{
    return data[ROWS] == d->rows && data[COLUMNS] == d->columns &&
           data[DEPTH] == depth_of(how, a) && data[TYPES] == types_of(a, d) &&
           data[HOW] == bits_of(how) && data[WHICH] != STAND_IN_UNABLE;
}

/* The bias for some algorithms at 16 bytes, whatever was said. */
static bool is_bias_aligned(const uint64_t *data, const void *bias, cublasLtMatrixLayout_t d)
{
    const uint64_t of_bias = alignment_of(bias);
    const size_t number = d->type == CUDA_R_32F ? sizeof(float) : sizeof(uint16_t);
    return of_bias >= 16 && of_bias >= data[BIAS_ALIGNED] &&
           stand_in_is_device_memory(bias, d->rows * number);
}

static bool is_aligned(const uint64_t *data, const void *a, const void *b, const void *d)
{
    const uint64_t low = ((uint64_t)1 << 20) - 1, of = data[OPERANDS_ALIGNED];
    return alignment_of(a) >= of >> 40 && alignment_of(b) >= (of >> 20 & low) &&
           alignment_of(d) >= (of & low);
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t blas, cublasLtMatmulDesc_t how, const void *alpha,
                              const void *a, cublasLtMatrixLayout_t of_a, const void *b,
                              cublasLtMatrixLayout_t of_b, const void *beta, const void *c,
                              cublasLtMatrixLayout_t of_c, void *d, cublasLtMatrixLayout_t of_d,
                              const cublasLtMatmulAlgo_t *algorithm, void *room, size_t room_bytes,
                              cudaStream_t stream)
{
    const int m = (int)of_d->rows, n = (int)of_d->columns;
    const uint64_t *data = algorithm->data;
    const void *bias = has_bias(how) ? how->bias : NULL;
    const bool rectified = how->epilogue == CUBLASLT_EPILOGUE_RELU_BIAS;
    const cudaDataType type = of_d->type;
    if (!fit(how, of_a, of_b, of_c, of_d) || !was_listed_for(data, how, of_a, of_d) ||
        !is_aligned(data, a, b, d) || (bias != NULL && !is_bias_aligned(data, bias, of_d)) ||
        room_bytes < ROOM_BYTES || !stand_in_is_device_memory(room, room_bytes) || c != d)
        return CUBLAS_STATUS_INVALID_VALUE;
    const uint64_t launch = launches[data[WHICH]]++;
    if (data[WHICH] == STAND_IN_FAILING)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    const double takes_ns = times_ns[data[WHICH]] * (launch % 2 == 0 ? 2 : 1);
    const auto begun_ns = std::make_shared<double>();
    cudaError_t error = stand_in_submit(stream, [=] {
        *begun_ns = stand_in_clock_ns();
        stand_in_took(0);
    });
    const auto epilogue = [=](std::vector<float> &sums) {
        memset(room, 0xA5, ROOM_BYTES);
        for (size_t i = 0; bias != NULL && i < sums.size(); i++) {
            sums[i] += stand_in_number(bias, type, i % (size_t)m);
            sums[i] = rectified && sums[i] < 0 ? 0 : sums[i];
        }
    };
    const cublasStatus_t status = stand_in_multiply(
        blas, how->turn_a, how->turn_b, m, n, (int)data[DEPTH], *(const float *)alpha, a,
        of_a->type, (int)of_a->stride, b, of_b->type, (int)of_b->stride, *(const float *)beta, d,
        type, (int)of_d->stride, how->compute, epilogue);
    error = error == cudaSuccess
                ? stand_in_submit(
                      stream, [=] { stand_in_took(*begun_ns + takes_ns - stand_in_clock_ns()); })
                : error;
    return error == cudaSuccess ? status : CUBLAS_STATUS_INVALID_VALUE;
}
