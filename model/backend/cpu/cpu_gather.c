/* Batches from a data set: the samples at the places pick[batch], one after the other. */
#include <string.h>

#include "backend/cpu/cpu.h"

void cpu_gather_pixels(struct backend *backend, int batch, size_t sample_size,
                       const uint8_t *pixels, const uint32_t *pick, float mean, float scale,
                       float *restrict x)
{
    (void)backend;
    for (int i = 0; i < batch; i++, x += sample_size) {
        const uint8_t *sample = pixels + pick[i] * sample_size;
        for (size_t j = 0; j < sample_size; j++)
            x[j] = ((float)sample[j] - mean) * scale;
    }
}

void cpu_gather_rows(struct backend *backend, int batch, size_t size, const void *from,
                     const uint32_t *pick, void *to)
{
    (void)backend;
    const size_t bytes = size * sizeof(uint32_t);
    for (int i = 0; i < batch; i++)
        memcpy((char *)to + (size_t)i * bytes, (const char *)from + pick[i] * bytes, bytes);
}

static int32_t token_at(const void *tokens, int token_bytes, size_t i)
{
    if (token_bytes == 1)
        return ((const uint8_t *)tokens)[i];
    if (token_bytes == 2)
        return ((const uint16_t *)tokens)[i];
    return ((const int32_t *)tokens)[i];
}

void cpu_gather_tokens(struct backend *backend, int batch, int length, int token_bytes,
                       const void *tokens, const uint32_t *pick, int32_t *x, int32_t *y)
{
    (void)backend;
    for (int i = 0; i < batch; i++)
        for (int j = 0; j < length; j++) {
            *x++ = token_at(tokens, token_bytes, pick[i] + (size_t)j);
            *y++ = token_at(tokens, token_bytes, pick[i] + (size_t)j + 1);
        }
}
