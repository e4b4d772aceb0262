/* Reads batches from a data set, and augments images (gather_operations in backend.h). */
#include <stdbool.h>
#include <string.h>

#include "backend/cpu/cpu.h"

static void cpu_gather_pixels(struct backend *backend, int batch, size_t sample_size,
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

static void cpu_gather_rows(struct backend *backend, int batch, size_t size, const void *from,
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

static void cpu_gather_tokens(struct backend *backend, int batch, int length, int token_bytes,
                              const void *tokens, const uint32_t *pick, int32_t *x, int32_t *y)
{
    (void)backend;
    for (int i = 0; i < batch; i++)
        for (int j = 0; j < length; j++) {
            *x++ = token_at(tokens, token_bytes, pick[i] + (size_t)j);
            *y++ = token_at(tokens, token_bytes, pick[i] + (size_t)j + 1);
        }
}

static int clamp(int value, int most)
{
    return value < 0 ? 0 : int_min(value, most);
}

/* Writes one row of an augmented channel. from: the row of the original image that moves there,
 * or NULL if it is outside the image. Columns begin .. end-1 come from inside the image. */
static void augment_row(const struct augment *augment, const struct augmentation *own, int row,
                        const float *from, float *to)
{
    const int width = augment->shape.width, hole = augment->hole;
    const int begin = from ? clamp(-own->right, width) : width;
    const int end = from ? clamp(width - own->right, width) : width;
    for (int column = 0; column < begin; column++)
        to[column] = augment->outside;
    for (int column = begin; column < end; column++)
        to[column] = from[own->mirrored ? width - 1 - column - own->right : column + own->right];
    for (int column = end; column < width; column++)
        to[column] = augment->outside;
    if (row < own->hole_top || row >= own->hole_top + hole)
        return;
    for (int column = clamp(own->hole_left, width); column < clamp(own->hole_left + hole, width);
         column++)
        to[column] = 0;
}

static void cpu_augment(struct backend *backend, const struct augment *augment, int batch,
                        const struct augmentation *each, const float *from, float *to)
{
    (void)backend;
    const struct shape shape = augment->shape;
    for (int i = 0; i < batch; i++)
        for (int channel = 0; channel < shape.channels; channel++) {
            for (int row = 0; row < shape.height; row++, to += shape.width) {
                const int moved = row + each[i].down;
                const bool is_inside = moved >= 0 && moved < shape.height;
                augment_row(augment, &each[i], row,
                            is_inside ? from + (size_t)moved * (size_t)shape.width : NULL, to);
            }
            from += (size_t)shape.height * (size_t)shape.width;
        }
}

const struct gather_operations cpu_gather = {
    .pixels = cpu_gather_pixels,
    .rows = cpu_gather_rows,
    .tokens = cpu_gather_tokens,
    .augment = cpu_augment,
};
