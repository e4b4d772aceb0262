/* What sequence models need beside matrix products, on a GPU: kernels, and the room they need. */
#include "backend/cuda/cuda_flash.h"
#include "backend/cuda/cuda_operations.h"
#include "backend/cuda/cuda_transformer.h"

void cuda_embed_forward(struct backend *backend, size_t rows, int size, const int32_t *token,
                        struct numbers tables, struct numbers ys)
{
    const float *table = floats_of(tables);
    float *y = floats_of(ys);
    cuda_check(kernel_embed(cuda_on(backend)->stream, rows, size, token, table, y), "embed");
}

void cuda_embed_backward(struct backend *backend, size_t rows, int size, const int32_t *token,
                         struct numbers dys, float *dtable)
{
    const float *dy = floats_of(dys);
    struct cuda *cuda = cuda_on(backend);
    struct layout room = {.memory = cuda_scratch(cuda, rows * (sizeof(int32_t) + 1) + 512)};
    int32_t *later = cuda_part(&room, rows * sizeof *later);
    uint8_t *is_first = cuda_part(&room, rows);
    cuda_check(kernel_embed_backward(cuda->stream, rows, size, token, dy, later, is_first, dtable),
               "embed");
}

void cuda_add_shared(struct backend *backend, int batch, size_t count, struct numbers xs,
                     const float *shared, struct numbers ys)
{
    const float *x = floats_of(xs);
    float *y = floats_of(ys);
    cuda_check(kernel_add(cuda_on(backend)->stream, (size_t)batch * count, count, x, shared, y),
               "adding");
}

void cuda_sum_shared(struct backend *backend, int batch, size_t count, struct numbers dys,
                     float *dshared)
{
    const float *dy = floats_of(dys);
    cuda_check(kernel_sum_shared(cuda_on(backend)->stream, batch, count, dy, dshared), "adding");
}

void cuda_add(struct backend *backend, size_t count, struct numbers as, struct numbers bs,
              struct numbers ys)
{
    const float *a = floats_of(as);
    const float *b = floats_of(bs);
    float *y = floats_of(ys);
    cuda_check(kernel_add(cuda_on(backend)->stream, count, count, a, b, y), "adding");
}

void cuda_copy(struct backend *backend, size_t count, struct numbers froms, struct numbers tos)
{
    const float *from = floats_of(froms);
    float *to = floats_of(tos);
    cuda_check(cudaMemcpyAsync(to, from, count * sizeof *to, cudaMemcpyDeviceToDevice,
                               cuda_on(backend)->stream),
               "copying");
}

void cuda_clear(struct backend *backend, size_t count, float *to)
{
    cuda_check(cudaMemsetAsync(to, 0, count * sizeof *to, cuda_on(backend)->stream), "clearing");
}

void cuda_drop(struct backend *backend, const struct dropout *dropout, const uint32_t *draws,
               struct numbers xs, struct numbers ys)
{
    const float *x = floats_of(xs);
    float *y = floats_of(ys);
    cuda_check(kernel_drop(cuda_on(backend)->stream, *dropout, draws, x, y), "dropout");
}

void cuda_norm_forward(struct backend *backend, size_t rows, int size, struct numbers xs,
                       const float *w, const float *b, struct numbers ys, float *stats)
{
    const float *x = floats_of(xs);
    float *y = floats_of(ys);
    cuda_check(kernel_norm(cuda_on(backend)->stream, rows, size, x, w, b, y, stats), "norm");
}

void cuda_norm_backward(struct backend *backend, size_t rows, int size, struct numbers xs,
                        const float *w, const float *stats, struct numbers dys, struct numbers dxs,
                        float *dw, float *db)
{
    const float *x = floats_of(xs);
    const float *dy = floats_of(dys);
    float *dx = floats_of(dxs);
    struct cuda *cuda = cuda_on(backend);
    float *parts = cuda_scratch(cuda, 2 * NORM_PARTS * (size_t)size * sizeof *parts);
    cuda_check(kernel_norm_backward(cuda->stream, rows, size, x, w, stats, dy, parts, dx, dw, db),
               "norm");
}

/* Attention takes the tensor cores where dense layers do. In bfloat16 cuDNN computes it, if it can.
 */
void cuda_attention_forward(struct backend *backend, const struct attention *attention, int batch,
                            struct numbers xs, struct numbers ys, float *log_sums)
{
    struct cuda *cuda = cuda_on(backend);
    if (xs.type == BFLOAT16 && cuda_flash_forward(cuda, attention, batch, xs.at, ys.at, log_sums))
        return;
    const float *x = floats_of(xs);
    float *y = floats_of(ys);
    const bool rounds = cuda->bf16 && kernel_attention_fits_bf16(attention, x, y);
    cuda_check((rounds ? kernel_attention_bf16 : kernel_attention)(cuda->stream, *attention, batch,
                                                                   x, y, log_sums),
               "attention");
}

void cuda_attention_backward(struct backend *backend, const struct attention *attention, int batch,
                             struct numbers xs, struct numbers ys, const float *log_sums,
                             struct numbers dys, struct numbers dxs)
{
    struct cuda *cuda = cuda_on(backend);
    if (xs.type == BFLOAT16 &&
        cuda_flash_backward(cuda, attention, batch, xs.at, ys.at, log_sums, dys.at, dxs.at))
        return;
    const float *x = floats_of(xs);
    const float *y = floats_of(ys);
    const float *dy = floats_of(dys);
    float *dx = floats_of(dxs);
    const size_t lines = (size_t)batch * (size_t)attention->heads * (size_t)attention->length;
    float *mixed = cuda_scratch(cuda, lines * sizeof *mixed);
    const bool rounds = cuda->bf16 && kernel_attention_fits_bf16(attention, x, dy) &&
                        kernel_attention_fits_bf16(attention, dx, dy);
    cuda_check(kernel_attention_mixed(cuda->stream, *attention, batch, y, dy, mixed), "attention");
    cuda_check((rounds ? kernel_attention_slopes_bf16 : kernel_attention_slopes)(
                   cuda->stream, *attention, batch, x, log_sums, mixed, dy, dx),
               "attention");
}

void cuda_rotate(struct backend *backend, const struct attention *attention, int batch, int turn,
                 struct numbers xs)
{
    float *x = floats_of(xs);
    struct cuda *cuda = cuda_on(backend);
    const size_t count = (size_t)attention->length * (size_t)attention->size;
    float *turns = cuda_scratch(cuda, count * sizeof *turns);
    cuda_check(kernel_rotate(cuda->stream, *attention, batch, turn, turns, x), "rotating");
}

void cuda_swiglu_forward(struct backend *backend, size_t rows, int size, struct numbers xs,
                         struct numbers ys)
{
    const float *x = floats_of(xs);
    float *y = floats_of(ys);
    cuda_check(kernel_swiglu(cuda_on(backend)->stream, rows, size, x, y), "swiglu");
}

void cuda_swiglu_backward(struct backend *backend, size_t rows, int size, struct numbers xs,
                          struct numbers dys, struct numbers dxs)
{
    const float *x = floats_of(xs);
    const float *dy = floats_of(dys);
    float *dx = floats_of(dxs);
    cuda_check(kernel_swiglu_backward(cuda_on(backend)->stream, rows, size, x, dy, dx), "swiglu");
}
