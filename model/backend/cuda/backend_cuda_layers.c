/* Layers but convolutions, and losses, on a GPU: matrix products, and kernels around them.
 *
 * In bfloat16 a dense layer's operands are rounded before they are multiplied. cuBLAS would do it
 * on its own (CUBLAS_COMPUTE_32F_FAST_16BF), but has no kernel for that which uses what Hopper and
 * later multiply with: only those of Ampere, at a half of their rate. What is rounded is
 * padded with zeros to a multiple of 16 bytes in each dimension: where a row begins elsewhere, or
 * ends, cuBLAS multiplies several times as long.
 * https://docs.nvidia.com/cuda/cublas/#tensor-core-usage
 */
#include "backend/cuda/cuda_dense.h"
#include "backend/cuda/cuda_kernels.h"

#define ROW_STEP 8 /* numbers of bfloat16, 16 bytes; a multiple of those of float32 */

/* Products from so large on may be made in two parts, or passes. */
#define LARGE_COUNT ((size_t)1 << 18) /* outputs */
#define LARGE_DEPTH 128               /* inputs of each */

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

/* Room for the operands of a dense layer, all three of them. */
static struct layout operands_room(struct cuda *cuda, int batch, int in, int out)
{
    struct layout layout = {0};
    if (!cuda->bf16)
        return layout;
    (void)cuda_rounded_part(&layout, batch, in);
    (void)cuda_rounded_part(&layout, cuda_padded(out), in);
    (void)cuda_rounded_part(&layout, batch, out);
    return (struct layout){.memory = cuda_step_room(cuda, &cuda->operands, layout.bytes)};
}

int cuda_depth(const struct cuda *cuda, int count)
{
    return cuda->bf16 ? cuda_padded(count) : count;
}

struct operand cuda_operand(struct cuda *cuda, struct layout *scratch, int rows, int high,
                            int columns, const float *from)
{
    if (!cuda->bf16)
        return cuda_floats(from);
    uint16_t *to = cuda_rounded_part(scratch, high, columns);
    cuda_check(kernel_to_bf16(cuda->stream, rows, columns, high, cuda_padded(columns), from, to),
               "dense");
    return cuda_rounded(to, columns);
}

struct operand cuda_operand_from(struct operand operand, int row, int columns)
{
    const size_t stride = (size_t)(operand.stride ? operand.stride : columns);
    const size_t bytes = operand.type == CUDA_R_16BF ? sizeof(uint16_t) : sizeof(float);
    operand.numbers = (const char *)operand.numbers + (size_t)row * stride * bytes;
    return operand;
}

/* The slope dy before the activation, and its sums, the slopes of the biases, if there are any. */
static struct operand slope_operand(struct cuda *cuda, struct layout *room, int batch, int out,
                                    const float *y, enum activation activation, float *dy,
                                    float *db)
{
    if (db == NULL && activation == LINEAR)
        return cuda_operand(cuda, room, batch, batch, out, dy);
    uint16_t *to = cuda->bf16 ? cuda_rounded_part(room, batch, out) : NULL;
    float *parts = cuda_scratch(cuda, COLUMN_PARTS * (size_t)out * sizeof *parts);
    cuda_check(kernel_slope_columns(cuda->stream, batch, out, y, activation, dy, to,
                                    cuda_padded(out), parts, db),
               "dense");
    return to ? cuda_rounded(to, out) : cuda_floats(dy);
}

static bool is_large(int batch, int in, int out)
{
    return (size_t)batch * (size_t)out >= LARGE_COUNT && in >= LARGE_DEPTH;
}

/* Whether the product of a dense layer is made elsewhere, with rows that begin aligned, and then
 * brought to y. Where rows of the result are not a multiple of 16 bytes, cuBLAS has only kernels
 * that take several times as long: 14 ps longer for each result of 768 terms, on an H200, where
 * writing and reading it once more take 2. What is small is not worth a kernel more, and what has
 * few terms is as fast as its memory. Products of float32 are slow for another reason. */
static bool is_apart(const struct cuda *cuda, int batch, int in, int out)
{
    return cuda->compute != CUBLAS_COMPUTE_32F && (size_t)out * sizeof(float) % 16 != 0 &&
           is_large(batch, in, out);
}

static void forward_apart(struct cuda *cuda, int batch, int in, int out, struct operand x,
                          struct operand w, const float *b, enum activation activation, float *y)
{
    const int stride = cuda_padded(out);
    float *apart = cuda_scratch(cuda, (size_t)batch * (size_t)stride * sizeof *apart);
    cuda_gemm_to(cuda, CUBLAS_OP_N, CUBLAS_OP_T, batch, cuda_depth(cuda, out), cuda_depth(cuda, in),
                 1, x, w, 0, stride, apart);
    cuda_check(kernel_compact(cuda->stream, batch, out, stride, apart, b, activation, y), "dense");
}

void cuda_dense_forward(struct backend *backend, int batch, int in, int out, struct numbers xs,
                        struct numbers ws, const float *b, enum activation activation,
                        struct numbers ys)
{
    const float *x = floats_of(xs);
    const float *w = floats_of(ws);
    float *y = floats_of(ys);
    struct cuda *cuda = cuda_on(backend);
    struct layout room = operands_room(cuda, batch, in, out);
    const struct operand by_x = cuda_operand(cuda, &room, batch, batch, in, x);
    const struct operand by_w = cuda_operand(cuda, &room, out, cuda_padded(out), in, w);
    const int depth = cuda_depth(cuda, in);
    if (is_apart(cuda, batch, in, out)) {
        forward_apart(cuda, batch, in, out, by_x, by_w, b, activation, y);
        return;
    }
    if (b != NULL && (activation == LINEAR || activation == RELU) &&
        cuda_gemm_bias(cuda, batch, out, depth, by_x, by_w, b, activation == RELU, y))
        return;
    cuda_gemm(cuda, CUBLAS_OP_N, CUBLAS_OP_T, batch, out, depth, by_x, by_w, y);
    if (b != NULL)
        cuda_check(kernel_add_bias(cuda->stream, batch, out, 1, b, activation, y), "dense");
    else if (activation != LINEAR)
        cuda_activate(backend, activation, (size_t)batch * (size_t)out, ys, ys);
}

/* Columns past a multiple of 16 bytes are multiplied by themselves, as dw has no padding. */
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

void cuda_dense_backward(struct backend *backend, int batch, int in, int out, struct numbers xs,
                         struct numbers ws, struct numbers ys, enum activation activation,
                         struct numbers dys, struct numbers dxs, float *dw, float *db, bool adds)
{
    const float *x = floats_of(xs);
    const float *w = floats_of(ws);
    const float *y = floats_of(ys);
    float *dy = floats_of(dys);
    float *dx = floats_of(dxs);
    struct cuda *cuda = cuda_on(backend);
    struct layout room = operands_room(cuda, batch, in, out);
    CHECK(!adds || !db);
    const struct operand by_dy = slope_operand(cuda, &room, batch, out, y, activation, dy, db);
    const struct operand by_x = cuda_operand(cuda, &room, batch, batch, in, x);
    cuda_weight_gradient(cuda, batch, in, out, by_dy, by_x, adds, dw);
    if (dx == NULL)
        return;
    const struct operand by_w = cuda_operand(cuda, &room, out, cuda_padded(out), in, w);
    cuda_gemm(cuda, CUBLAS_OP_N, CUBLAS_OP_N, batch, in, cuda_depth(cuda, out), by_dy, by_w, dx);
}

void cuda_pool_forward(struct backend *backend, const struct pool *pool, int batch, const float *x,
                       float *y, uint8_t *winner)
{
    cuda_check(kernel_pool(cuda_on(backend)->stream, *pool, batch, x, y, winner), "maxpool");
}

void cuda_pool_backward(struct backend *backend, const struct pool *pool, int batch,
                        const float *dy, const uint8_t *winner, float *dx)
{
    cuda_check(kernel_unpool(cuda_on(backend)->stream, *pool, batch, dy, winner, dx), "maxpool");
}

void cuda_activate(struct backend *backend, enum activation activation, size_t count,
                   struct numbers xs, struct numbers ys)
{
    const float *x = floats_of(xs);
    float *y = floats_of(ys);
    cuda_check(kernel_activate(cuda_on(backend)->stream, activation, count, x, y), "activation");
}

void cuda_activate_backward(struct backend *backend, enum activation activation, size_t count,
                            struct numbers kepts, struct numbers dys, struct numbers dxs)
{
    const float *kept = floats_of(kepts);
    const float *dy = floats_of(dys);
    float *dx = floats_of(dxs);
    cuda_check(kernel_activate_backward(cuda_on(backend)->stream, activation, count, kept, dy, dx),
               "activation");
}

void cuda_cross_entropy(struct backend *backend, const struct cross_entropy *loss,
                        const float *logits, const int32_t *labels, float *dlogits,
                        struct score *score)
{
    struct cuda *cuda = cuda_on(backend);
    struct score *row_scores = cuda_scratch(cuda, (size_t)loss->rows * sizeof *row_scores);
    cuda_check(kernel_cross_entropy(cuda->stream, *loss, loss->classes, logits, labels, dlogits,
                                    row_scores, score),
               "cross-entropy");
}

void cuda_squared_error(struct backend *backend, int rows, int width, int of, const float *y,
                        const float *want, float *dy, struct score *score)
{
    struct cuda *cuda = cuda_on(backend);
    struct score *row_scores = cuda_scratch(cuda, (size_t)rows * sizeof *row_scores);
    cuda_check(kernel_squared_error(cuda->stream, rows, width, of, y, want, dy, row_scores, score),
               "squared error");
}
