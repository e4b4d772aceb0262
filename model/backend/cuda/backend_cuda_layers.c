/* Dense layers, activations and pooling on a GPU: matrix products, and kernels around them.
 *
 * With precision bf16 a dense layer's operands, unless stored in bfloat16, are rounded by a kernel
 * before they are multiplied. cuBLAS could round them itself (CUBLAS_COMPUTE_32F_FAST_16BF), but it
 * then uses instructions of Ampere, which have half the rate of those of Hopper and later. Rows of
 * a rounded operand, and the number of rows of w, are padded with zeros to multiples of 8 numbers
 * (16 bytes); otherwise cuBLAS takes several times as long.
 * https://docs.nvidia.com/cuda/cublas/#tensor-core-usage
 */
#include "backend/cuda/cuda_dense.h"
#include "backend/cuda/cuda_kernels.h"

#define ROW_STEP 8 /* bfloat16 numbers per 16 bytes */

/* From these sizes on (is_large), a product with unaligned rows is computed in the scratch buffer
 * or in two parts. */
#define LARGE_COUNT ((size_t)1 << 18) /* minimum number of outputs of the layer for a batch */
#define LARGE_DEPTH 128               /* minimum number of inputs of the layer */

int cuda_padded(int columns)
{
    return (columns + ROW_STEP - 1) / ROW_STEP * ROW_STEP;
}

uint16_t *cuda_rounded_part(struct layout *scratch, int rows, int columns)
{
    const size_t count = (size_t)rows * (size_t)cuda_padded(columns);
    return cuda_part(scratch, count * sizeof(uint16_t));
}

struct operand cuda_rounded(const uint16_t *numbers, int columns)
{
    return (struct operand){numbers, CUDA_R_16BF, cuda_padded(columns)};
}

int cuda_depth(const struct cuda *cuda, int count)
{
    return cuda->bf16 ? cuda_padded(count) : count;
}

/* Returns whether cuBLAS can read the numbers in place, without a rounded and padded copy. */
static bool is_operand(const struct cuda *cuda, int rows, int high, int columns,
                       struct numbers from)
{
    if (!cuda->bf16)
        return true;
    return from.type == BFLOAT16 && rows == high && columns == cuda_padded(columns) &&
           (uintptr_t)from.at % (ROW_STEP * sizeof(uint16_t)) == 0;
}

void cuda_operand_measure(const struct cuda *cuda, struct layout *layout, int rows, int high,
                          int columns, struct numbers from)
{
    if (!is_operand(cuda, rows, high, columns, from))
        (void)cuda_rounded_part(layout, high, columns);
}

struct operand cuda_operand(struct cuda *cuda, struct layout *scratch, int rows, int high,
                            int columns, struct numbers from)
{
    if (is_operand(cuda, rows, high, columns, from))
        return (struct operand){from.at, from.type == BFLOAT16 ? CUDA_R_16BF : CUDA_R_32F, columns};
    uint16_t *to = cuda_rounded_part(scratch, high, columns);
    cuda_check(kernel_to_bf16(cuda->stream, rows, columns, high, cuda_padded(columns), from, to),
               "dense");
    return cuda_rounded(to, columns);
}

/* Returns the scratch buffer for a dense layer's operands: x, w and, in a backward pass, dy. */
static struct layout operands_scratch(struct cuda *cuda, int batch, int in, int out,
                                      struct numbers x, struct numbers w, struct numbers dy)
{
    struct layout layout = {0};
    cuda_operand_measure(cuda, &layout, batch, batch, in, x);
    cuda_operand_measure(cuda, &layout, out, cuda_padded(out), in, w);
    if (dy.at != NULL)
        cuda_operand_measure(cuda, &layout, batch, batch, out, dy);
    return (struct layout){.memory = cuda_step_buffer(cuda, &cuda->operands, layout.bytes)};
}

struct operand cuda_operand_from(struct operand operand, int row, int columns)
{
    const size_t stride = (size_t)(operand.stride ? operand.stride : columns);
    const size_t bytes = operand.type == CUDA_R_16BF ? sizeof(uint16_t) : sizeof(float);
    operand.numbers = (const char *)operand.numbers + (size_t)row * stride * bytes;
    return operand;
}

/* Computes the gradient before the activation and returns it as an operand. Unless db is NULL,
 * writes the gradients of the biases. */
static struct operand gradient_operand(struct cuda *cuda, struct layout *scratch, int batch,
                                       int out, struct numbers y, enum activation activation,
                                       struct numbers dy, float *db)
{
    if (db == NULL && activation == LINEAR)
        return cuda_operand(cuda, scratch, batch, batch, out, dy);
    const bool rounds = cuda->bf16 && dy.type == FLOAT32;
    uint16_t *to = rounds ? cuda_rounded_part(scratch, batch, out) : NULL;
    float *parts = cuda_scratch(cuda, COLUMN_PARTS * (size_t)out * sizeof *parts);
    cuda_check(kernel_gradient_columns(cuda->stream, batch, out, y, activation, dy, to,
                                       cuda_padded(out), parts, db),
               "dense");
    return rounds ? cuda_rounded(to, out) : cuda_operand(cuda, scratch, batch, batch, out, dy);
}

static bool is_large(int batch, int in, int out)
{
    return (size_t)batch * (size_t)out >= LARGE_COUNT && in >= LARGE_DEPTH;
}

/* Returns whether a dense layer's product is computed apart: in float32 with aligned rows in the
 * scratch buffer, then copied to y. If rows of y are not a multiple of 16 bytes, cuBLAS takes
 * several times as long. On an H200 each output of 768 terms takes 14 ps more, and the copy 2 ps.
 * With a float32 y, a small product is not worth another kernel. A product with few terms is
 * limited by memory, and products in full float32 are slow anyway. */
static bool is_apart(const struct cuda *cuda, int batch, int in, int out, enum number type)
{
    if (type == BFLOAT16)
        return out != cuda_padded(out);
    return cuda->compute != CUBLAS_COMPUTE_32F && (size_t)out * sizeof(float) % 16 != 0 &&
           is_large(batch, in, out);
}

/* Computes the product in the scratch buffer, then writes its first `columns` columns, with bias
 * and activation, to y. */
static void multiply_apart(struct cuda *cuda, struct product *product, int columns,
                           struct numbers b, enum activation activation, struct numbers y)
{
    const size_t count = (size_t)product->m * (size_t)product->n;
    float *apart = cuda_scratch(cuda, count * sizeof *apart);
    product->epilogue = CUBLASLT_EPILOGUE_DEFAULT;
    product->c = cuda_to_floats(apart);
    (void)cuda_multiply(cuda, product);
    cuda_check(
        kernel_compact(cuda->stream, product->m, columns, product->n, apart, b, activation, y),
        "dense");
}

static struct result result_of(struct numbers y)
{
    return (struct result){y.at, y.type == BFLOAT16 ? CUDA_R_16BF : CUDA_R_32F, 0};
}

void cuda_product_to(struct cuda *cuda, struct product *product, int columns, struct numbers y)
{
    if (y.type == BFLOAT16 && columns != cuda_padded(columns)) {
        product->n = columns;
        multiply_apart(cuda, product, columns, (struct numbers){0}, LINEAR, y);
        return;
    }
    product->c = result_of(y);
    (void)cuda_multiply(cuda, product);
}

/* Computes the product and, as its epilogue, bias and activation. Returns false, and does nothing,
 * if no such epilogue exists. */
static bool multiply_with_epilogue(struct cuda *cuda, struct product *product, struct numbers b,
                                   enum activation activation)
{
    if (b.at == NULL && activation == LINEAR)
        return cuda_multiply(cuda, product);
    if (b.at == NULL || (activation != LINEAR && activation != RELU))
        return false;
    product->bias = b.at;
    product->epilogue = activation == RELU ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_BIAS;
    return cuda_multiply(cuda, product);
}

static void cuda_dense_forward(struct backend *backend, int batch, int in, int out,
                               struct numbers x, struct numbers w, struct numbers b,
                               enum activation activation, struct numbers y)
{
    struct cuda *cuda = cuda_on(backend);
    struct layout scratch = operands_scratch(cuda, batch, in, out, x, w, (struct numbers){0});
    struct product product = {.turn_b = CUBLAS_OP_T,
                              .m = batch,
                              .n = out,
                              .k = cuda_depth(cuda, in),
                              .alpha = 1,
                              .a = cuda_operand(cuda, &scratch, batch, batch, in, x),
                              .b = cuda_operand(cuda, &scratch, out, cuda_padded(out), in, w),
                              .c = result_of(y),
                              .epilogue = CUBLASLT_EPILOGUE_DEFAULT};
    CHECK(b.at == NULL || b.type == y.type);
    if (!is_apart(cuda, batch, in, out, y.type) &&
        multiply_with_epilogue(cuda, &product, b, activation))
        return;
    product.n = cuda_depth(cuda, out);
    multiply_apart(cuda, &product, out, b, activation, y);
}

/* In bf16 the last out % ROW_STEP rows of a large dw are computed by a second product, because dw
 * has no padding. */
void cuda_weight_gradient(struct cuda *cuda, int batch, int in, int out, struct operand dy,
                          struct operand x, bool adds, float *dw)
{
    const bool parts = cuda->bf16 && is_large(batch, in, out);
    const int rest = parts ? out % ROW_STEP : 0, most = out - rest;
    const float beta = adds ? 1 : 0;
    cuda_gemm_onto(cuda, CUBLAS_OP_T, CUBLAS_OP_N, most, in, batch, 1, dy, x, beta, dw);
    if (rest == 0)
        return;
    dy.numbers = (const uint16_t *)dy.numbers + most;
    cuda_gemm_onto(cuda, CUBLAS_OP_T, CUBLAS_OP_N, rest, in, batch, 1, dy, x, beta,
                   dw + (size_t)most * (size_t)in);
}

/* Arguments of a dense layer's backward pass. */
struct dense {
    int batch, in, out;
    enum activation activation; /* activation of the layer, whose output is y */
    struct numbers x, w, y, dy;
    float *dw, *db;
    bool adds; /* true: adds to dw instead of overwriting it */
};

/* Computes dw and db in one product. Returns false, and does nothing, without bf16 or db, if dw is
 * added to, if dy must be changed or copied first, or if no algorithm also sums dy. */
static bool weight_and_bias_gradients(struct cuda *cuda, const struct dense *of, struct operand x)
{
    if (!cuda->bf16 || of->activation != LINEAR || of->db == NULL || of->adds ||
        !is_operand(cuda, of->batch, of->batch, of->out, of->dy))
        return false;
    const struct product product = {.turn_a = CUBLAS_OP_T,
                                    .m = of->out,
                                    .n = of->in,
                                    .k = of->batch,
                                    .alpha = 1,
                                    .a = {of->dy.at, CUDA_R_16BF, 0},
                                    .b = x,
                                    .c = cuda_to_floats(of->dw),
                                    .epilogue = CUBLASLT_EPILOGUE_BGRADB,
                                    .a_sums = of->db};
    return cuda_multiply(cuda, &product);
}

/* Computes dw and db. Returns the gradient before the activation as an operand. */
static struct operand gradients_of_weights(struct cuda *cuda, struct layout *scratch,
                                           const struct dense *of)
{
    const struct operand x = cuda_operand(cuda, scratch, of->batch, of->batch, of->in, of->x);
    if (weight_and_bias_gradients(cuda, of, x))
        return (struct operand){of->dy.at, CUDA_R_16BF, 0};
    const struct operand dy =
        gradient_operand(cuda, scratch, of->batch, of->out, of->y, of->activation, of->dy, of->db);
    cuda_weight_gradient(cuda, of->batch, of->in, of->out, dy, x, of->adds, of->dw);
    return dy;
}

/* Computes dw and db. Returns the product that computes dx; product.c is not set. */
static struct product dense_gradients(struct cuda *cuda, const struct dense *of)
{
    struct layout scratch =
        operands_scratch(cuda, of->batch, of->in, of->out, of->x, of->w, of->dy);
    const struct operand dy = gradients_of_weights(cuda, &scratch, of);
    return (struct product){
        .m = of->batch,
        .n = of->in,
        .k = cuda_depth(cuda, of->out),
        .alpha = 1,
        .a = dy,
        .b = cuda_operand(cuda, &scratch, of->out, cuda_padded(of->out), of->in, of->w),
        .epilogue = CUBLASLT_EPILOGUE_DEFAULT};
}

static void cuda_dense_backward(struct backend *backend, int batch, int in, int out,
                                struct numbers x, struct numbers w, struct numbers y,
                                enum activation activation, struct numbers dy, struct numbers dx,
                                float *dw, float *db, bool adds)
{
    struct cuda *cuda = cuda_on(backend);
    const struct dense of = {batch, in, out, activation, x, w, y, dy, dw, db, adds};
    CHECK(!adds || !db);
    struct product to_x = dense_gradients(cuda, &of);
    if (dx.at != NULL)
        cuda_product_to(cuda, &to_x, in, dx);
}

/* Returns whether GELU may be the epilogue of a product: only if its result is bfloat16 with
 * aligned rows. */
static bool is_gelu_epilogue(enum activation activation, int columns, struct numbers result)
{
    return activation == GELU && result.type == BFLOAT16 && columns == cuda_padded(columns);
}

static void cuda_activate(struct backend *backend, enum activation activation, size_t count,
                          struct numbers x, struct numbers y)
{
    cuda_check(kernel_activate(cuda_on(backend)->stream, activation, count, x, y), "activation");
}

static void cuda_activate_backward(struct backend *backend, enum activation activation,
                                   size_t count, struct numbers kept, struct numbers dy,
                                   struct numbers dx)
{
    cuda_check(kernel_activate_backward(cuda_on(backend)->stream, activation, count, kept, dy, dx),
               "activation");
}

static void cuda_dense_activate_forward(struct backend *backend, int batch, int in, int out,
                                        struct numbers x, struct numbers w, struct numbers b,
                                        enum activation activation, struct numbers before,
                                        struct numbers y)
{
    struct cuda *cuda = cuda_on(backend);
    if (b.at != NULL && is_gelu_epilogue(activation, out, y)) {
        struct layout scratch = operands_scratch(cuda, batch, in, out, x, w, floats(NULL));
        const struct product product = {
            .turn_b = CUBLAS_OP_T,
            .m = batch,
            .n = out,
            .k = cuda_depth(cuda, in),
            .alpha = 1,
            .a = cuda_operand(cuda, &scratch, batch, batch, in, x),
            .b = cuda_operand(cuda, &scratch, out, cuda_padded(out), in, w),
            .c = result_of(y),
            .epilogue = CUBLASLT_EPILOGUE_GELU_AUX_BIAS,
            .bias = b.at,
            .before = before.at};
        if (cuda_multiply(cuda, &product))
            return;
    }
    cuda_dense_forward(backend, batch, in, out, x, w, b, LINEAR, before);
    cuda_activate(backend, activation, (size_t)batch * (size_t)out, before, y);
}

static void cuda_dense_activate_backward(struct backend *backend, int batch, int in, int out,
                                         struct numbers x, struct numbers w, struct numbers dy,
                                         enum activation activation, struct numbers before,
                                         struct numbers dx, float *dw, float *db)
{
    struct cuda *cuda = cuda_on(backend);
    const struct dense of = {batch, in, out, LINEAR, x, w, floats(NULL), dy, dw, db, false};
    struct product to_x = dense_gradients(cuda, &of);
    if (is_gelu_epilogue(activation, in, dx)) {
        to_x.c = result_of(dx);
        to_x.epilogue = CUBLASLT_EPILOGUE_DGELU;
        to_x.before = before.at;
        if (cuda_multiply(cuda, &to_x))
            return;
        to_x.epilogue = CUBLASLT_EPILOGUE_DEFAULT;
        to_x.before = NULL;
    }
    cuda_product_to(cuda, &to_x, in, dx);
    cuda_activate_backward(backend, activation, (size_t)batch * (size_t)in, before, dx, dx);
}

static void cuda_pool_forward(struct backend *backend, const struct pool *pool, int batch,
                              const float *x, float *y, uint8_t *winner)
{
    cuda_check(kernel_pool(cuda_on(backend)->stream, *pool, batch, x, y, winner), "maxpool");
}

static void cuda_pool_backward(struct backend *backend, const struct pool *pool, int batch,
                               const float *dy, const uint8_t *winner, float *dx)
{
    cuda_check(kernel_unpool(cuda_on(backend)->stream, *pool, batch, dy, winner, dx), "maxpool");
}

const struct dense_operations cuda_dense = {
    .forward = cuda_dense_forward,
    .backward = cuda_dense_backward,
    .activate_forward = cuda_dense_activate_forward,
    .activate_backward = cuda_dense_activate_backward,
};

const struct pool_operations cuda_pool = {
    .forward = cuda_pool_forward,
    .backward = cuda_pool_backward,
};

const struct activation_operations cuda_activation = {
    .forward = cuda_activate,
    .backward = cuda_activate_backward,
};
