/* Reads batches from a data set on a GPU. */
#include "backend/cuda/cuda.h"
#include "backend/cuda/cuda_gather.h"

static void cuda_gather_pixels(struct backend *backend, int batch, size_t sample_size,
                               const uint8_t *pixels, const uint32_t *pick, float mean, float scale,
                               float *x)
{
    cuda_check(kernel_gather_pixels(cuda_on(backend)->stream, batch, sample_size, pixels, pick,
                                    mean, scale, x),
               "gathering a batch");
}

static void cuda_gather_rows(struct backend *backend, int batch, size_t size, const void *from,
                             const uint32_t *pick, void *to)
{
    cuda_check(kernel_gather_rows(cuda_on(backend)->stream, batch, size, from, pick, to),
               "gathering a batch");
}

static void cuda_gather_tokens(struct backend *backend, int batch, int length, int token_bytes,
                               const void *tokens, const uint32_t *pick, int32_t *x, int32_t *y)
{
    cuda_check(kernel_gather_tokens(cuda_on(backend)->stream, batch, length, token_bytes, tokens,
                                    pick, x, y),
               "gathering a batch");
}

static void cuda_augment(struct backend *backend, const struct augment *augment, int batch,
                         const struct augmentation *each, const float *from, float *to)
{
    cuda_check(kernel_augment(cuda_on(backend)->stream, *augment, batch, each, from, to),
               "augmentation");
}

const struct gather_operations cuda_gather = {
    .pixels = cuda_gather_pixels,
    .rows = cuda_gather_rows,
    .tokens = cuda_gather_tokens,
    .augment = cuda_augment,
};
