/* Operations on sequences, except matrix products, on a GPU: calls the kernels with their scratch
 * buffers. */
#include "backend/cuda/cuda.h"
#include "backend/cuda/cuda_flash.h"
#include "backend/cuda/cuda_transformer.h"

static void cuda_embed_forward(struct backend *backend, size_t rows, int size, const int32_t *token,
                               struct numbers table, struct numbers y)
{
    cuda_check(kernel_embed(cuda_on(backend)->stream, rows, size, token, table, y), "embed");
}

static void cuda_embed_backward(struct backend *backend, size_t rows, int size,
                                const int32_t *token, struct numbers dy, float *dtable)
{
    struct cuda *cuda = cuda_on(backend);
    struct layout scratch = {.memory = cuda_scratch(cuda, rows * (sizeof(int32_t) + 1) + 512)};
    int32_t *later = cuda_part(&scratch, rows * sizeof *later);
    uint8_t *is_first = cuda_part(&scratch, rows);
    cuda_check(kernel_embed_backward(cuda->stream, rows, size, token, dy, later, is_first, dtable),
               "embed");
}

static void cuda_add_shared(struct backend *backend, int batch, size_t count, struct numbers x,
                            const float *shared, struct numbers y)
{
    cuda_check(kernel_add_shared(cuda_on(backend)->stream, batch, count, x, shared, y), "adding");
}

static void cuda_sum_shared(struct backend *backend, int batch, size_t count, struct numbers dy,
                            float *dshared)
{
    cuda_check(kernel_sum_shared(cuda_on(backend)->stream, batch, count, dy, dshared), "adding");
}

static void cuda_add(struct backend *backend, size_t count, struct numbers a, struct numbers b,
                     struct numbers y)
{
    cuda_check(kernel_add(cuda_on(backend)->stream, count, a, b, y), "adding");
}

static void cuda_copy(struct backend *backend, size_t count, struct numbers from, struct numbers to)
{
    const cudaStream_t stream = cuda_on(backend)->stream;
    cuda_check(from.type == to.type ? cudaMemcpyAsync(to.at, from.at, count * number_bytes(to.type),
                                                      cudaMemcpyDeviceToDevice, stream)
                                    : kernel_convert(stream, count, from, to),
               "copying");
}

static void cuda_clear(struct backend *backend, size_t count, float *to)
{
    cuda_check(cudaMemsetAsync(to, 0, count * sizeof *to, cuda_on(backend)->stream), "clearing");
}

static void cuda_drop(struct backend *backend, const struct dropout *dropout, const uint32_t *draws,
                      struct numbers x, struct numbers y)
{
    cuda_check(kernel_drop(cuda_on(backend)->stream, *dropout, draws, x, y), "dropout");
}

static void cuda_norm_forward(struct backend *backend, size_t rows, int size, struct numbers x,
                              const float *w, const float *b, struct numbers y, float *stats)
{
    const struct numbers none = {NULL, x.type};
    cuda_check(kernel_norm(cuda_on(backend)->stream, rows, size, x, none, none, w, b, y, stats),
               "norm");
}

static void cuda_add_norm_forward(struct backend *backend, size_t rows, int size, struct numbers a,
                                  struct numbers b, struct numbers sum, const float *w,
                                  const float *norm_b, struct numbers y, float *stats)
{
    cuda_check(kernel_norm(cuda_on(backend)->stream, rows, size, a, b, sum, w, norm_b, y, stats),
               "norm");
}

static void cuda_norm_backward(struct backend *backend, size_t rows, int size, struct numbers x,
                               const float *w, const float *stats, struct numbers dy,
                               struct numbers passed, struct numbers dx, float *dw, float *db)
{
    struct cuda *cuda = cuda_on(backend);
    float *sums = cuda_scratch(cuda, 2 * NORM_PARTS * (size_t)size * sizeof *sums);
    cuda_check(
        kernel_norm_backward(cuda->stream, rows, size, x, w, stats, dy, passed, sums, dx, dw, db),
        "norm");
}

/* In bfloat16 cuDNN computes attention if it can. Otherwise our own kernels compute it, with
 * precision bf16 on the tensor cores if the shape fits. */
static void cuda_attention_forward(struct backend *backend, const struct attention *attention,
                                   int batch, struct numbers x, struct numbers y, float *log_sums)
{
    struct cuda *cuda = cuda_on(backend);
    if (x.type == BFLOAT16 && cuda_flash_forward(cuda, attention, batch, x.at, y.at, log_sums))
        return;
    const bool rounds = cuda->bf16 && kernel_attention_fits_bf16(attention, x, y);
    cuda_check((rounds ? kernel_attention_bf16 : kernel_attention)(cuda->stream, *attention, batch,
                                                                   x, y, log_sums),
               "attention");
}

static void cuda_attention_backward(struct backend *backend, const struct attention *attention,
                                    int batch, struct numbers x, struct numbers y,
                                    const float *log_sums, struct numbers dy, struct numbers dx)
{
    struct cuda *cuda = cuda_on(backend);
    if (x.type == BFLOAT16 &&
        cuda_flash_backward(cuda, attention, batch, x.at, y.at, log_sums, dy.at, dx.at))
        return;
    const size_t lines = (size_t)batch * (size_t)attention->heads * (size_t)attention->length;
    float *mixed = cuda_scratch(cuda, lines * sizeof *mixed);
    const bool rounds = cuda->bf16 && kernel_attention_fits_bf16(attention, x, dy) &&
                        kernel_attention_fits_bf16(attention, dx, dy);
    cuda_check(kernel_attention_mixed(cuda->stream, *attention, batch, y, dy, mixed), "attention");
    cuda_check((rounds ? kernel_attention_gradients_bf16 : kernel_attention_gradients)(
                   cuda->stream, *attention, batch, x, log_sums, mixed, dy, dx),
               "attention");
}

static void cuda_rotate(struct backend *backend, const struct attention *attention, int batch,
                        int turn, struct numbers x)
{
    struct cuda *cuda = cuda_on(backend);
    const size_t count = (size_t)attention->length * (size_t)attention->size;
    float *turns = cuda_scratch(cuda, count * sizeof *turns);
    cuda_check(kernel_rotate(cuda->stream, *attention, batch, turn, turns, x), "rotating");
}

static void cuda_swiglu_forward(struct backend *backend, size_t rows, int size, struct numbers x,
                                struct numbers y)
{
    cuda_check(kernel_swiglu(cuda_on(backend)->stream, rows, size, x, y), "swiglu");
}

static void cuda_swiglu_backward(struct backend *backend, size_t rows, int size, struct numbers x,
                                 struct numbers dy, struct numbers dx)
{
    cuda_check(kernel_swiglu_backward(cuda_on(backend)->stream, rows, size, x, dy, dx), "swiglu");
}

const struct element_operations cuda_elements = {
    .add_shared = cuda_add_shared,
    .sum_shared = cuda_sum_shared,
    .add = cuda_add,
    .copy = cuda_copy,
    .drop = cuda_drop,
    .clear = cuda_clear,
};

const struct sequence_operations cuda_sequence = {
    .embed = cuda_embed_forward,
    .embed_backward = cuda_embed_backward,
    .norm = cuda_norm_forward,
    .norm_backward = cuda_norm_backward,
    .add_norm = cuda_add_norm_forward,
    .swiglu = cuda_swiglu_forward,
    .swiglu_backward = cuda_swiglu_backward,
};

const struct attention_operations cuda_attention = {
    .forward = cuda_attention_forward,
    .backward = cuda_attention_backward,
    .rotate = cuda_rotate,
};
