/* Matrix products: cuBLAS, and cuBLASLt where a bias is added on the way.
 *
 *   a shape, where its operands lie ──plan_of──► descriptors, the algorithm ──► cuBLASLt ──► stream
 *
 * cuBLASLt adds a bias before it writes the result, which saves reading and writing it once more.
 * It says which algorithm to take for a shape and how its operands are aligned, and is asked once
 * for each. Those that add up parts in the result itself are left out: their sums come in any
 * order. https://docs.nvidia.com/cuda/cublas/#using-the-cublaslt-api
 */
#include <cublasLt.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cuda/cuda_operations.h"
#include "base/memory.h"

#define ALIGNMENT 16 /* bytes: the most that an algorithm asks for */

static cublasComputeType_t compute_of(const struct cuda *cuda, cudaDataType type)
{
    return type == CUDA_R_32F ? cuda->compute : CUBLAS_COMPUTE_32F;
}

static int stride_of(struct operand operand, int wide)
{
    return operand.stride ? operand.stride : wide;
}

/* cuBLAS counts by columns: to it all three are transposed, and cᵀ = bᵀ·aᵀ. */
void cuda_gemm_to(struct cuda *cuda, cublasOperation_t turn_a, cublasOperation_t turn_b, int m,
                  int n, int k, float alpha, struct operand a, struct operand b, float beta,
                  int stride, float *c)
{
    const int wide_a = turn_a == CUBLAS_OP_N ? k : m, wide_b = turn_b == CUBLAS_OP_N ? n : k;
    cuda_check_blas(cublasGemmEx(cuda->blas, turn_b, turn_a, n, m, k, &alpha, b.numbers, b.type,
                                 stride_of(b, wide_b), a.numbers, a.type, stride_of(a, wide_a),
                                 &beta, c, CUDA_R_32F, stride, compute_of(cuda, a.type),
                                 CUBLAS_GEMM_DEFAULT),
                    "a matrix product");
}

void cuda_gemm_onto(struct cuda *cuda, cublasOperation_t turn_a, cublasOperation_t turn_b, int m,
                    int n, int k, float alpha, struct operand a, struct operand b, float beta,
                    float *c)
{
    cuda_gemm_to(cuda, turn_a, turn_b, m, n, k, alpha, a, b, beta, n, c);
}

void cuda_gemm(struct cuda *cuda, cublasOperation_t turn_a, cublasOperation_t turn_b, int m, int n,
               int k, struct operand a, struct operand b, float *c)
{
    cuda_gemm_onto(cuda, turn_a, turn_b, m, n, k, 1, a, b, 0, c);
}

/* A product with a bias, x[rows, depth]·wᵀ + b, w[columns, depth]. Only ints: compared as bytes. */
struct shape_of_product {
    int rows;
    int columns;
    int depth;
    int type;      /* of x and w */
    int stride_x;  /* numbers from one row to the next */
    int stride_w;  /* likewise */
    int aligned_x; /* bytes that it begins at a multiple of, up to ALIGNMENT */
    int aligned_w; /* likewise */
    int aligned_y; /* likewise */
    int rectified; /* whether what is negative becomes 0 */
};

struct plan {
    struct shape_of_product of;
    cublasLtMatmulDesc_t how;
    cublasLtMatrixLayout_t x;
    cublasLtMatrixLayout_t w;
    cublasLtMatrixLayout_t y;
    cublasLtMatmulAlgo_t algorithm;
    bool is_possible; /* there is an algorithm */
};

struct products {
    struct plan *plans; /* [count], one for each shape met so far */
    int count;
};

static void check(cublasStatus_t error)
{
    cuda_check_blas(error, "a matrix product");
}

/* A handle of cuBLAS is one of cuBLASLt, too. */
static cublasLtHandle_t handle_of(const struct cuda *cuda)
{
    return (cublasLtHandle_t)cuda->blas;
}

static int alignment_of(const void *memory)
{
    int bytes = ALIGNMENT;
    while ((uintptr_t)memory % (uintptr_t)bytes != 0)
        bytes /= 2;
    return bytes;
}

static void set_bias(const struct plan *plan, const void *b)
{
    check(
        cublasLtMatmulDescSetAttribute(plan->how, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &b, sizeof b));
}

/* As cublasGemmEx is asked: to it all are transposed, and the bias is a column of y. */
static void describe(const struct cuda *cuda, struct plan *plan)
{
    const struct shape_of_product *of = &plan->of;
    const cudaDataType type = (cudaDataType)of->type;
    const uint64_t rows = (uint64_t)of->rows, columns = (uint64_t)of->columns;
    const uint64_t depth = (uint64_t)of->depth;
    const cublasOperation_t turn = CUBLAS_OP_T;
    const cublasLtEpilogue_t epilogue =
        of->rectified ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_BIAS;
    check(cublasLtMatmulDescCreate(&plan->how, compute_of(cuda, type), CUDA_R_32F));
    check(
        cublasLtMatmulDescSetAttribute(plan->how, CUBLASLT_MATMUL_DESC_TRANSA, &turn, sizeof turn));
    check(cublasLtMatmulDescSetAttribute(plan->how, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue,
                                         sizeof epilogue));
    check(cublasLtMatrixLayoutCreate(&plan->w, type, depth, columns, of->stride_w));
    check(cublasLtMatrixLayoutCreate(&plan->x, type, depth, rows, of->stride_x));
    check(cublasLtMatrixLayoutCreate(&plan->y, CUDA_R_32F, columns, rows, of->columns));
}

static void prefer(cublasLtMatmulPreference_t preference,
                   cublasLtMatmulPreferenceAttributes_t attribute, int value)
{
    const uint32_t number = (uint32_t)value;
    check(cublasLtMatmulPreferenceSetAttribute(preference, attribute, &number, sizeof number));
}

static cublasLtMatmulPreference_t preference_of(const struct shape_of_product *of)
{
    cublasLtMatmulPreference_t preference;
    const uint64_t room = BLAS_ROOM_BYTES;
    check(cublasLtMatmulPreferenceCreate(&preference));
    check(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                               &room, sizeof room));
    prefer(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
           CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE | CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE);
    prefer(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, of->aligned_w);
    prefer(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, of->aligned_x);
    prefer(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, of->aligned_y);
    prefer(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, of->aligned_y);
    return preference;
}

/* The place of the bias tells cuBLASLt how it is aligned: no better than any will be. */
static void choose(const struct cuda *cuda, struct plan *plan)
{
    int found = 0;
    cublasLtMatmulHeuristicResult_t result = {0};
    cublasLtMatmulPreference_t preference = preference_of(&plan->of);
    set_bias(plan, (const char *)cuda->blas_room + ALIGNMENT);
    const cublasStatus_t error =
        cublasLtMatmulAlgoGetHeuristic(handle_of(cuda), plan->how, plan->w, plan->x, plan->y,
                                       plan->y, preference, 1, &result, &found);
    if (error != CUBLAS_STATUS_NOT_SUPPORTED)
        check(error);
    plan->is_possible = error == CUBLAS_STATUS_SUCCESS && found == 1 &&
                        result.state == CUBLAS_STATUS_SUCCESS &&
                        result.workspaceSize <= BLAS_ROOM_BYTES;
    plan->algorithm = result.algo;
    check(cublasLtMatmulPreferenceDestroy(preference));
}

static struct plan *add_plan(struct cuda *cuda, const struct shape_of_product *of)
{
    struct products *all = cuda->products;
    all->plans = memory_more(all->plans, (size_t)all->count + 1, sizeof *all->plans);
    struct plan *plan = &all->plans[all->count++];
    *plan = (struct plan){.of = *of};
    describe(cuda, plan);
    choose(cuda, plan);
    return plan;
}

static struct plan *plan_of(struct cuda *cuda, const struct shape_of_product *of)
{
    if (cuda->products == NULL)
        cuda->products = memory_new(1, sizeof *cuda->products);
    struct plan *plan = cuda->products->plans, *end = plan + cuda->products->count;
    while (plan < end && memcmp(&plan->of, of, sizeof *of) != 0)
        plan++;
    return plan < end ? plan : add_plan(cuda, of);
}

/* The bias, where algorithms may read it by fours. */
static const float *aligned(struct cuda *cuda, const float *b, int count)
{
    const size_t bytes = (size_t)count * sizeof *b;
    if (alignment_of(b) == ALIGNMENT)
        return b;
    float *to = cuda_scratch(cuda, bytes);
    cuda_check(cudaMemcpyAsync(to, b, bytes, cudaMemcpyDeviceToDevice, cuda->stream),
               "a matrix product");
    return to;
}

bool cuda_gemm_bias(struct cuda *cuda, int rows, int columns, int depth, struct operand x,
                    struct operand w, const float *b, bool rectified, float *y)
{
    const float one = 1, zero = 0;
    const struct shape_of_product of = {.rows = rows,
                                        .columns = columns,
                                        .depth = depth,
                                        .type = (int)x.type,
                                        .stride_x = stride_of(x, depth),
                                        .stride_w = stride_of(w, depth),
                                        .aligned_x = alignment_of(x.numbers),
                                        .aligned_w = alignment_of(w.numbers),
                                        .aligned_y = alignment_of(y),
                                        .rectified = rectified};
    struct plan *plan = plan_of(cuda, &of);
    if (!plan->is_possible)
        return false;
    set_bias(plan, aligned(cuda, b, columns));
    const cublasStatus_t error = cublasLtMatmul(
        handle_of(cuda), plan->how, &one, w.numbers, plan->w, x.numbers, plan->x, &zero, y, plan->y,
        y, plan->y, &plan->algorithm, cuda->blas_room, BLAS_ROOM_BYTES, cuda->stream);
    plan->is_possible = error != CUBLAS_STATUS_NOT_SUPPORTED;
    if (plan->is_possible)
        check(error);
    return plan->is_possible;
}

void cuda_gemm_close(struct cuda *cuda)
{
    struct products *all = cuda->products;
    if (all == NULL)
        return;
    for (int i = 0; i < all->count; i++) {
        const struct plan *plan = &all->plans[i];
        check(cublasLtMatmulDescDestroy(plan->how));
        check(cublasLtMatrixLayoutDestroy(plan->x));
        check(cublasLtMatrixLayoutDestroy(plan->w));
        check(cublasLtMatrixLayoutDestroy(plan->y));
    }
    free(all->plans);
    free(all);
}
