/* See cublasLt.h. */
#include "cublasLt.h"

#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "cuda_runtime.h"

#define ROOM_BYTES 4096 /* workspace of each algorithm */

struct stand_in_matmul {
    cublasComputeType_t compute;
    cublasOperation_t turn_a, turn_b;
    uint32_t epilogue;
    const void *bias; /* bias; for BGRADB the address for sums of the second operand */
    void *aux;        /* input of GELU, in the type of the result */
    int64_t aux_stride;
};

struct stand_in_matrix {
    cudaDataType type;
    uint64_t rows, columns;
    int64_t stride;
};

struct stand_in_preference {
    uint64_t scratch_bytes;
    uint32_t reductions;
    uint32_t aligned[4]; /* declared alignments of A to D, in bytes */
};

/* An algorithm's data: its number, and the product that it was listed for. */
enum { WHICH, ROWS, COLUMNS, DEPTH, TYPES, HOW, OPERANDS_ALIGNED, BIAS_ALIGNED };

/* Returns nanoseconds of a run. Every other run of an algorithm takes twice that. */
static double time_ns(int algorithm)
{
    switch (algorithm) {
    case STAND_IN_SLOW:
        return 200;
    case STAND_IN_AS_FAST:
        return 103;
    case STAND_IN_FASTEST:
        return 100;
    default: /* unable or failing */
        return 1;
    }
}

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
    *how = new stand_in_matmul{
        compute, CUBLAS_OP_N, CUBLAS_OP_N, CUBLASLT_EPILOGUE_DEFAULT, NULL, NULL, 0};
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
    if (attribute == CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER)
        return take(&how->aux, value, bytes);
    if (attribute == CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD)
        return take(&how->aux_stride, value, bytes);
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
        return take(&preference->scratch_bytes, value, bytes);
    if (attribute == CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK)
        return take(&preference->reductions, value, bytes);
    return take(&preference->aligned[attribute - CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES], value,
                bytes);
}

/* Returns the largest power of two, up to 256, that divides the address. */
static uint64_t alignment_of(const void *memory)
{
    const uint64_t bits = (uint64_t)(uintptr_t)memory | 256;
    return bits & (~bits + 1);
}

static bool has_bias(cublasLtMatmulDesc_t how)
{
    return how->epilogue != CUBLASLT_EPILOGUE_DEFAULT && how->epilogue != CUBLASLT_EPILOGUE_DGELU;
}

static bool has_aux(cublasLtMatmulDesc_t how)
{
    return how->epilogue == CUBLASLT_EPILOGUE_GELU_AUX_BIAS ||
           how->epilogue == CUBLASLT_EPILOGUE_DGELU;
}

/* Only products of bfloat16 have the epilogues of training. */
static bool is_known(cublasLtMatmulDesc_t how, cublasLtMatrixLayout_t a)
{
    switch (how->epilogue) {
    case CUBLASLT_EPILOGUE_DEFAULT:
    case CUBLASLT_EPILOGUE_BIAS:
    case CUBLASLT_EPILOGUE_RELU_BIAS:
        return true;
    case CUBLASLT_EPILOGUE_GELU_AUX_BIAS:
    case CUBLASLT_EPILOGUE_DGELU:
    case CUBLASLT_EPILOGUE_BGRADB:
        return a->type == CUDA_R_16BF;
    }
    return false;
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
           rows == d->rows && columns == d->columns && is_known(how, a) &&
           (!has_aux(how) || how->aux_stride == (int64_t)d->rows);
}

/* Lists no algorithm if the result has one row (a layer with one output), to test what the caller
 * does then. */
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t how,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int count,
                                              cublasLtMatmulHeuristicResult_t *results, int *found)
{
    *found = 0;
    if (!fit(how, a, b, c, d) || count < 1 || preference->scratch_bytes < ROOM_BYTES ||
        preference->reductions & CUBLASLT_REDUCTION_SCHEME_INPLACE ||
        (has_bias(how) && how->bias == NULL) || (has_aux(how) && how->aux == NULL)) {
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

/* Requires a bias aligned to 16 bytes, as some algorithms do, whatever alignment was declared. */
static bool is_bias_aligned(const uint64_t *data, cublasLtMatmulDesc_t how,
                            cublasLtMatrixLayout_t d)
{
    const void *bias = how->bias;
    const uint64_t of_bias = alignment_of(bias);
    const uint64_t count = how->epilogue == CUBLASLT_EPILOGUE_BGRADB ? d->columns : d->rows;
    const size_t number = d->type == CUDA_R_32F ? sizeof(float) : sizeof(uint16_t);
    return of_bias >= 16 && of_bias >= data[BIAS_ALIGNED] &&
           stand_in_is_device_memory(bias, count * number);
}

static bool is_aligned(const uint64_t *data, const void *a, const void *b, const void *d)
{
    const uint64_t low = ((uint64_t)1 << 20) - 1, of = data[OPERANDS_ALIGNED];
    return alignment_of(a) >= of >> 40 && alignment_of(b) >= (of >> 20 & low) &&
           alignment_of(d) >= (of & low);
}

static float tanh_of_gelu(float x)
{
    return tanhf(0.79788456f * (x + 0.044715f * x * x * x));
}

static float gelu(float x)
{
    return 0.5f * x * (1 + tanh_of_gelu(x));
}

static float gelu_gradient(float x)
{
    const float t = tanh_of_gelu(x), inner = 0.79788456f * (1 + 3 * 0.044715f * x * x);
    return 0.5f * (1 + t) + 0.5f * x * (1 - t * t) * inner;
}

/* Applies the epilogue to a product's sums, in columns of m numbers. */
static void finish(const stand_in_matmul &how, cudaDataType type, size_t m,
                   std::vector<float> &sums)
{
    const bool adds = how.epilogue & CUBLASLT_EPILOGUE_BIAS;
    for (size_t i = 0; i < sums.size(); i++) {
        float &sum = sums[i];
        sum += adds ? stand_in_number(how.bias, type, i % m) : 0;
        if (how.epilogue == CUBLASLT_EPILOGUE_RELU_BIAS)
            sum = sum < 0 ? 0 : sum;
        if (how.epilogue == CUBLASLT_EPILOGUE_DGELU)
            sum *= gelu_gradient(stand_in_number(how.aux, type, i));
        if (how.epilogue == CUBLASLT_EPILOGUE_GELU_AUX_BIAS) {
            stand_in_put_number(how.aux, type, i, sum);
            sum = gelu(sum);
        }
    }
}

/* Sums the second operand over the terms of each of `columns` columns, in float32. */
static void sum_operand(const stand_in_matmul &how, const void *b, const stand_in_matrix &matrix,
                        size_t columns)
{
    const bool is_turned = how.turn_b == CUBLAS_OP_T;
    const size_t depth = (size_t)(is_turned ? matrix.columns : matrix.rows);
    const size_t stride = (size_t)matrix.stride;
    for (size_t column = 0; column < columns; column++) {
        float sum = 0;
        for (size_t k = 0; k < depth; k++)
            sum += stand_in_number(b, matrix.type,
                                   is_turned ? column + k * stride : k + column * stride);
        ((float *)const_cast<void *>(how.bias))[column] = sum;
    }
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t blas, cublasLtMatmulDesc_t how, const void *alpha,
                              const void *a, cublasLtMatrixLayout_t of_a, const void *b,
                              cublasLtMatrixLayout_t of_b, const void *beta, const void *c,
                              cublasLtMatrixLayout_t of_c, void *d, cublasLtMatrixLayout_t of_d,
                              const cublasLtMatmulAlgo_t *algorithm, void *room,
                              size_t scratch_bytes, cudaStream_t stream)
{
    const int m = (int)of_d->rows, n = (int)of_d->columns;
    const uint64_t *data = algorithm->data;
    const cudaDataType type = of_d->type;
    const stand_in_matmul as_asked = *how;
    if (!fit(how, of_a, of_b, of_c, of_d) || !was_listed_for(data, how, of_a, of_d) ||
        !is_aligned(data, a, b, d) || (has_bias(how) && !is_bias_aligned(data, how, of_d)) ||
        (has_aux(how) && alignment_of(how->aux) < 16) || scratch_bytes < ROOM_BYTES ||
        !stand_in_is_device_memory(room, scratch_bytes) || c != d)
        return CUBLAS_STATUS_INVALID_VALUE;
    const uint64_t launch = launches[data[WHICH]]++;
    if (data[WHICH] == STAND_IN_FAILING)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    const double takes_ns = time_ns((int)data[WHICH]) * (launch % 2 == 0 ? 2 : 1);
    const auto begun_ns = std::make_shared<double>();
    cudaError_t error = stand_in_submit(stream, [=] {
        *begun_ns = stand_in_clock_ns();
        stand_in_took(0);
    });
    const stand_in_matrix matrix_b = *of_b;
    const auto epilogue = [=](std::vector<float> &sums) {
        memset(room, 0xA5, ROOM_BYTES);
        if (as_asked.epilogue == CUBLASLT_EPILOGUE_BGRADB)
            sum_operand(as_asked, b, matrix_b, (size_t)n);
        else
            finish(as_asked, type, (size_t)m, sums);
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
