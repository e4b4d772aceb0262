/* Matrix products on a GPU, by cuBLASLt.
 *
 *   shape, alignment of operands ──plan_of──► descriptors, algorithm ──► cuBLASLt ──► stream
 *
 * For a shape and the alignment of its operands, cuBLASLt lists algorithms in the order of their
 * expected speed. The first eight are timed when a product of that shape is first computed
 * (cuda_choice.h). Algorithms that add partial sums in the result itself are left out, because the
 * order of additions varies. A bias is added before the result is written, which saves another pass
 * over the result. If cuBLASLt has no algorithm for a product, cuBLAS computes it.
 * https://docs.nvidia.com/cuda/cublas/#using-the-cublaslt-api
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cuda/cuda_choice.h"
#include "backend/cuda/cuda_matmul.h"
#include "base/memory.h"

#define ALIGNMENT      16 /* largest alignment that an algorithm requires, in bytes */
#define ALGORITHMS_MAX 8  /* largest number of algorithms to time */

/* Key of a product (cuda_choice.h): equal keys have one algorithm. It has only ints, so that there
 * is no padding. */
struct shape_of_product {
    int device;
    int compute;
    int type; /* type of a and b */
    int type_c;
    int turn_a;
    int turn_b;
    int m;
    int n;
    int k;
    int stride_a; /* numbers from one row to the next */
    int stride_b;
    int stride_c;
    int aligned_a; /* alignment of a's address in bytes, at most ALIGNMENT */
    int aligned_b;
    int aligned_c;
    int epilogue;
};

struct algorithm {
    cublasLtMatmulAlgo_t algo;
    /* false if cuBLASLt lists no algorithm or does not support the chosen algorithm */
    bool is_possible;
};

/* Descriptors of a product. cuBLASLt's matrices are column major, which makes ours transposed, so
 * it computes cᵀ = bᵀ·aᵀ. */
struct plan {
    struct shape_of_product of;
    cublasLtMatmulDesc_t how;
    cublasLtMatrixLayout_t a;
    cublasLtMatrixLayout_t b;
    cublasLtMatrixLayout_t c;
    struct algorithm algorithm;
};

struct products {
    struct plan *plans; /* [count] one plan for each shape so far */
    int count;
    cudaEvent_t begun; /* events before and after a timed algorithm */
    cudaEvent_t ended;
};

static void check(cublasStatus_t error)
{
    cuda_check_blas(error, "a matrix product");
}

static cublasComputeType_t compute_of(const struct cuda *cuda, cudaDataType type)
{
    return type == CUDA_R_32F ? cuda->compute : CUBLAS_COMPUTE_32F;
}

static int stride_or(int stride, int wide)
{
    return stride ? stride : wide;
}

static size_t bytes_of(cudaDataType type)
{
    return type == CUDA_R_32F ? sizeof(float) : sizeof(uint16_t);
}

/* wide_a and wide_b return the length of a row of a and of b in memory. */
static int wide_a(const struct product *product)
{
    return product->turn_a == CUBLAS_OP_N ? product->k : product->m;
}

static int wide_b(const struct product *product)
{
    return product->turn_b == CUBLAS_OP_N ? product->n : product->k;
}

/* Returns the cuBLASLt handle; a cuBLAS handle also serves as a cuBLASLt handle. */
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

static struct shape_of_product shape_of(const struct cuda *cuda, const struct product *product)
{
    return (struct shape_of_product){.device = cuda->device,
                                     .compute = (int)compute_of(cuda, product->a.type),
                                     .type = (int)product->a.type,
                                     .type_c = (int)product->c.type,
                                     .turn_a = (int)product->turn_a,
                                     .turn_b = (int)product->turn_b,
                                     .m = product->m,
                                     .n = product->n,
                                     .k = product->k,
                                     .stride_a = stride_or(product->a.stride, wide_a(product)),
                                     .stride_b = stride_or(product->b.stride, wide_b(product)),
                                     .stride_c = stride_or(product->c.stride, product->n),
                                     .aligned_a = alignment_of(product->a.numbers),
                                     .aligned_b = alignment_of(product->b.numbers),
                                     .aligned_c = alignment_of(product->c.numbers),
                                     .epilogue = (int)product->epilogue};
}

static void set(const struct plan *plan, cublasLtMatmulDescAttributes_t attribute,
                const void *value, size_t bytes)
{
    check(cublasLtMatmulDescSetAttribute(plan->how, attribute, value, bytes));
}

static void set_bias(const struct plan *plan, const void *bias)
{
    set(plan, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias);
}

/* has_vector returns whether the epilogue reads or writes a vector (biases or their gradients),
 * has_before whether it reads or writes a second matrix (the activation's input). */
static bool has_vector(int epilogue)
{
    return epilogue != CUBLASLT_EPILOGUE_DEFAULT && epilogue != CUBLASLT_EPILOGUE_DGELU;
}

static bool has_before(int epilogue)
{
    return epilogue == CUBLASLT_EPILOGUE_GELU_AUX_BIAS || epilogue == CUBLASLT_EPILOGUE_DGELU;
}

static void set_before(const struct plan *plan, const void *before)
{
    const int64_t stride = plan->of.n;
    set(plan, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, &before, sizeof before);
    set(plan, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, &stride, sizeof stride);
}

static cublasLtMatrixLayout_t layout_of(int type, int rows, int columns, int stride)
{
    cublasLtMatrixLayout_t layout;
    check(cublasLtMatrixLayoutCreate(&layout, (cudaDataType)type, (uint64_t)columns, (uint64_t)rows,
                                     stride));
    return layout;
}

static void describe(struct plan *plan, const struct product *product)
{
    const struct shape_of_product *of = &plan->of;
    const int rows_a = product->m + product->k - wide_a(product);
    const int rows_b = product->n + product->k - wide_b(product);
    check(cublasLtMatmulDescCreate(&plan->how, (cublasComputeType_t)of->compute, CUDA_R_32F));
    set(plan, CUBLASLT_MATMUL_DESC_TRANSA, &product->turn_b, sizeof product->turn_b);
    set(plan, CUBLASLT_MATMUL_DESC_TRANSB, &product->turn_a, sizeof product->turn_a);
    set(plan, CUBLASLT_MATMUL_DESC_EPILOGUE, &product->epilogue, sizeof product->epilogue);
    plan->a = layout_of(of->type, rows_a, wide_a(product), of->stride_a);
    plan->b = layout_of(of->type, rows_b, wide_b(product), of->stride_b);
    plan->c = layout_of(of->type_c, of->m, of->n, of->stride_c);
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
    const uint64_t scratch = BLAS_WORKSPACE_BYTES;
    check(cublasLtMatmulPreferenceCreate(&preference));
    check(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                               &scratch, sizeof scratch));
    prefer(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
           CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE | CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE);
    prefer(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, of->aligned_b);
    prefer(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, of->aligned_a);
    prefer(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, of->aligned_c);
    prefer(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, of->aligned_c);
    return preference;
}

/* Writes the usable algorithms in cuBLASLt's order and returns their number. cuBLASLt takes the
 * alignment of bias and `before` from their addresses, so it is given addresses that are aligned to
 * ALIGNMENT bytes and no more. */
static int list_algorithms(const struct cuda *cuda, const struct plan *plan,
                           cublasLtMatmulAlgo_t algorithms[ALGORITHMS_MAX])
{
    int found = 0, usable = 0;
    cublasLtMatmulHeuristicResult_t results[ALGORITHMS_MAX] = {0};
    cublasLtMatmulPreference_t preference = preference_of(&plan->of);
    if (has_vector(plan->of.epilogue))
        set_bias(plan, (const char *)cuda->blas_workspace + ALIGNMENT);
    if (has_before(plan->of.epilogue))
        set_before(plan, (const char *)cuda->blas_workspace + ALIGNMENT);
    const cublasStatus_t error =
        cublasLtMatmulAlgoGetHeuristic(handle_of(cuda), plan->how, plan->b, plan->a, plan->c,
                                       plan->c, preference, ALGORITHMS_MAX, results, &found);
    /* Both errors mean that cuBLASLt cannot compute this product; cuBLAS then tries. */
    if (error != CUBLAS_STATUS_NOT_SUPPORTED && error != CUBLAS_STATUS_INVALID_VALUE)
        check(error);
    for (int i = 0; error == CUBLAS_STATUS_SUCCESS && i < found; i++) {
        if (results[i].state == CUBLAS_STATUS_SUCCESS &&
            results[i].workspaceSize <= BLAS_WORKSPACE_BYTES)
            algorithms[usable++] = results[i].algo;
    }
    check(cublasLtMatmulPreferenceDestroy(preference));
    return usable;
}

static cublasStatus_t run(const struct cuda *cuda, const struct plan *plan,
                          const struct product *product, const cublasLtMatmulAlgo_t *algorithm,
                          void *to)
{
    if (has_vector(plan->of.epilogue))
        set_bias(plan, product->a_sums != NULL ? product->a_sums : product->bias);
    if (has_before(plan->of.epilogue))
        set_before(plan, product->before);
    return cublasLtMatmul(handle_of(cuda), plan->how, &product->alpha, product->b.numbers, plan->b,
                          product->a.numbers, plan->a, &product->beta, to, plan->c, to, plan->c,
                          algorithm, cuda->blas_workspace, BLAS_WORKSPACE_BYTES, cuda->stream);
}

/* Runs an algorithm once. Returns its time in milliseconds; INFINITY if it cannot compute the
 * product. */
static float time_once(const struct cuda *cuda, const struct plan *plan,
                       const struct product *product, const cublasLtMatmulAlgo_t *algorithm,
                       void *to)
{
    float ms = 0;
    const struct products *all = cuda->products;
    cuda_check(cudaEventRecord(all->begun, cuda->stream), "timing");
    const cublasStatus_t error = run(cuda, plan, product, algorithm, to);
    cuda_check(cudaEventRecord(all->ended, cuda->stream), "timing");
    cuda_check(cudaEventSynchronize(all->ended), "timing");
    cuda_check(cudaEventElapsedTime(&ms, all->begun, all->ended), "timing");
    return error == CUBLAS_STATUS_SUCCESS ? ms : INFINITY;
}

static float time_of(const struct cuda *cuda, const struct plan *plan,
                     const struct product *product, const cublasLtMatmulAlgo_t *algorithm, void *to)
{
    float shortest = INFINITY;
    /* This untimed run only loads the kernel. */
    if (isinf(time_once(cuda, plan, product, algorithm, to)))
        return INFINITY;
    for (int i = 0; i < TRIALS; i++)
        shortest = fminf(shortest, time_once(cuda, plan, product, algorithm, to));
    return shortest;
}

/* Measures the algorithms and returns the index of the chosen one. A product that adds to c is
 * timed with other memory as its result. */
static int measure(struct cuda *cuda, const struct plan *plan, const struct product *product,
                   const cublasLtMatmulAlgo_t *algorithms, int count)
{
    float ms[ALGORITHMS_MAX];
    const bool adds = product->beta != 0;
    const size_t bytes = (size_t)product->m * (size_t)plan->of.stride_c * bytes_of(product->c.type);
    void *to = adds ? cuda_alloc_spare(cuda, bytes) : product->c.numbers;
    if (to == NULL)
        return 0;
    if (adds)
        cuda_check(cudaMemsetAsync(to, 0, bytes, cuda->stream), "timing");
    for (int i = 0; i < count; i++)
        ms[i] = time_of(cuda, plan, product, &algorithms[i], to);
    if (adds)
        cuda_free(&cuda->table, to);
    return cuda_first_fast(ms, count);
}

struct choice_context {
    struct cuda *cuda;
    const struct plan *plan;
    const struct product *product;
};

static void choose(void *context, bool measures, void *choice)
{
    const struct choice_context *of = context;
    cublasLtMatmulAlgo_t algorithms[ALGORITHMS_MAX];
    /* the first call makes the choice, and the first call is never recorded */
    CHECK(!of->cuda->recording);
    const int count = list_algorithms(of->cuda, of->plan, algorithms);
    const int taken =
        measures && count > 1 ? measure(of->cuda, of->plan, of->product, algorithms, count) : 0;
    struct algorithm *algorithm = choice;
    *algorithm = (struct algorithm){.is_possible = count > 0};
    if (count > 0)
        algorithm->algo = algorithms[taken];
}

static struct plan *add_plan(struct cuda *cuda, const struct shape_of_product *of,
                             const struct product *product)
{
    struct products *all = cuda->products;
    all->plans = memory_more(all->plans, (size_t)all->count + 1, sizeof *all->plans);
    struct plan *plan = &all->plans[all->count++];
    *plan = (struct plan){.of = *of};
    describe(plan, product);
    struct choice_context context = {cuda, plan, product};
    cuda_choice(&(struct chooser){.key = of,
                                  .key_bytes = sizeof *of,
                                  .choice_bytes = sizeof plan->algorithm,
                                  .choose = choose,
                                  .context = &context},
                &plan->algorithm);
    return plan;
}

static struct products *products_of(struct cuda *cuda)
{
    if (cuda->products != NULL)
        return cuda->products;
    cuda->products = memory_new(1, sizeof *cuda->products);
    cuda_check(cudaEventCreateWithFlags(&cuda->products->begun, cudaEventDefault), "timing");
    cuda_check(cudaEventCreateWithFlags(&cuda->products->ended, cudaEventDefault), "timing");
    return cuda->products;
}

static struct plan *plan_of(struct cuda *cuda, const struct product *product)
{
    const struct products *all = products_of(cuda);
    const struct shape_of_product of = shape_of(cuda, product);
    struct plan *plan = all->plans, *end = plan + all->count;
    while (plan < end && memcmp(&plan->of, &of, sizeof of) != 0)
        plan++;
    return plan < end ? plan : add_plan(cuda, &of, product);
}

/* Computes the product by cuBLASLt. Returns false, and does nothing, if cuBLASLt cannot compute
 * it. */
static bool multiply(struct cuda *cuda, const struct product *product)
{
    if (product->m == 0 || product->n == 0 || product->k == 0)
        return false;
    struct plan *plan = plan_of(cuda, product);
    if (!plan->algorithm.is_possible)
        return false;
    const cublasStatus_t error =
        run(cuda, plan, product, &plan->algorithm.algo, product->c.numbers);
    plan->algorithm.is_possible = error != CUBLAS_STATUS_NOT_SUPPORTED;
    if (plan->algorithm.is_possible)
        check(error);
    return plan->algorithm.is_possible;
}

static void multiply_by_cublas(struct cuda *cuda, const struct product *product)
{
    const struct operand a = product->a, b = product->b;
    check(cublasGemmEx(
        cuda->blas, product->turn_b, product->turn_a, product->n, product->m, product->k,
        &product->alpha, b.numbers, b.type, stride_or(b.stride, wide_b(product)), a.numbers, a.type,
        stride_or(a.stride, wide_a(product)), &product->beta, product->c.numbers, product->c.type,
        stride_or(product->c.stride, product->n), compute_of(cuda, a.type), CUBLAS_GEMM_DEFAULT));
}

/* Returns the bias, copied to the scratch buffer if its address is not aligned. */
static const void *aligned(struct cuda *cuda, const struct product *product)
{
    const size_t bytes = (size_t)product->n * bytes_of(product->c.type);
    if (product->bias == NULL || alignment_of(product->bias) == ALIGNMENT)
        return product->bias;
    void *to = cuda_scratch(cuda, bytes);
    cuda_check(cudaMemcpyAsync(to, product->bias, bytes, cudaMemcpyDeviceToDevice, cuda->stream),
               "a matrix product");
    return to;
}

bool cuda_multiply(struct cuda *cuda, const struct product *of)
{
    struct product product = *of;
    CHECK(of->a.type == of->b.type);
    if (alignment_of(of->a_sums) != ALIGNMENT || alignment_of(of->before) != ALIGNMENT)
        return false;
    product.bias = aligned(cuda, of);
    if (multiply(cuda, &product))
        return true;
    if (of->epilogue != CUBLASLT_EPILOGUE_DEFAULT)
        return false;
    multiply_by_cublas(cuda, of);
    return true;
}

void cuda_gemm_onto(struct cuda *cuda, cublasOperation_t turn_a, cublasOperation_t turn_b, int m,
                    int n, int k, float alpha, struct operand a, struct operand b, float beta,
                    float *c)
{
    const struct product product = {.turn_a = turn_a,
                                    .turn_b = turn_b,
                                    .m = m,
                                    .n = n,
                                    .k = k,
                                    .alpha = alpha,
                                    .beta = beta,
                                    .a = a,
                                    .b = b,
                                    .c = cuda_to_floats(c),
                                    .epilogue = CUBLASLT_EPILOGUE_DEFAULT};
    (void)cuda_multiply(cuda, &product);
}

void cuda_gemm(struct cuda *cuda, cublasOperation_t turn_a, cublasOperation_t turn_b, int m, int n,
               int k, struct operand a, struct operand b, float *c)
{
    cuda_gemm_onto(cuda, turn_a, turn_b, m, n, k, 1, a, b, 0, c);
}

void cuda_gemm_close(struct cuda *cuda)
{
    struct products *all = cuda->products;
    if (all == NULL)
        return;
    for (int i = 0; i < all->count; i++) {
        const struct plan *plan = &all->plans[i];
        check(cublasLtMatmulDescDestroy(plan->how));
        check(cublasLtMatrixLayoutDestroy(plan->a));
        check(cublasLtMatrixLayoutDestroy(plan->b));
        check(cublasLtMatrixLayoutDestroy(plan->c));
    }
    cuda_check(cudaEventDestroy(all->begun), "closing");
    cuda_check(cudaEventDestroy(all->ended), "closing");
    free(all->plans);
    free(all);
}
