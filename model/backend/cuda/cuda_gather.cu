/* Reads batches from a data set, and augments images: sample i of the batch is sample pick[i] of
 * the set. */
#include "backend/cuda/cuda_each.cuh"
#include "backend/cuda/cuda_gather.h"

static __device__ float normal(uint8_t pixel, float mean, float scale)
{
    return ((float)pixel - mean) * scale;
}

static __global__ void gather_pixels(unsigned samples, unsigned sample_size, const uint8_t *pixels,
                                     const uint32_t *pick, float mean, float scale, float *x)
{
    EACH_LINE (i, samples) {
        const uint8_t *sample = pixels + (size_t)pick[i] * sample_size;
        float *to = x + (size_t)i * sample_size;
        /* If all samples are aligned, each thread loads four pixels at a time, so that a warp's
         * load fills one request to memory. */
        const unsigned fours = sample_size % 4 == 0 ? sample_size / 4 : 0;
        EACH_PLACE (four, fours) {
            const uchar4 pixel = ((const uchar4 *)sample)[four];
            ((float4 *)to)[four] = {normal(pixel.x, mean, scale), normal(pixel.y, mean, scale),
                                    normal(pixel.z, mean, scale), normal(pixel.w, mean, scale)};
        }
        for (unsigned place = 4 * fours + threadIdx.x % WARP; place < sample_size; place += WARP)
            to[place] = normal(sample[place], mean, scale);
    }
}

cudaError_t kernel_gather_pixels(cudaStream_t stream, int batch, size_t sample_size,
                                 const uint8_t *pixels, const uint32_t *pick, float mean,
                                 float scale, float *x)
{
    return launch_lines(stream, (size_t)batch, gather_pixels, (unsigned)sample_size, pixels, pick,
                        mean, scale, x);
}

static __global__ void gather_rows(unsigned rows, unsigned size, const uint32_t *from,
                                   const uint32_t *pick, uint32_t *to)
{
    EACH_LINE (i, rows) {
        const uint32_t *row = from + (size_t)pick[i] * size;
        EACH_PLACE (place, size)
            to[(size_t)i * size + place] = row[place];
    }
}

/* Copies rows of one number, one per thread. gather_rows copies longer rows, one per warp. */
static __global__ void gather_numbers(unsigned count, const uint32_t *from, const uint32_t *pick,
                                      uint32_t *to)
{
    EACH (i, count)
        to[i] = from[pick[i]];
}

cudaError_t kernel_gather_rows(cudaStream_t stream, int batch, size_t size, const void *from,
                               const uint32_t *pick, void *to)
{
    const uint32_t *numbers = (const uint32_t *)from;
    return size == 1
               ? launch_each(stream, (size_t)batch, gather_numbers, numbers, pick, (uint32_t *)to)
               : launch_lines(stream, (size_t)batch, gather_rows, (unsigned)size, numbers, pick,
                              (uint32_t *)to);
}

static __device__ int32_t token_at(const void *tokens, int token_bytes, size_t i)
{
    if (token_bytes == 1)
        return ((const uint8_t *)tokens)[i];
    if (token_bytes == 2)
        return ((const uint16_t *)tokens)[i];
    return ((const int32_t *)tokens)[i];
}

static __global__ void gather_tokens(unsigned count, unsigned length, int token_bytes,
                                     const void *tokens, const uint32_t *pick, int32_t *x,
                                     int32_t *y)
{
    EACH (i, count) {
        const size_t at = (size_t)pick[i / length] + i % length;
        x[i] = token_at(tokens, token_bytes, at);
        y[i] = token_at(tokens, token_bytes, at + 1);
    }
}

cudaError_t kernel_gather_tokens(cudaStream_t stream, int batch, int length, int token_bytes,
                                 const void *tokens, const uint32_t *pick, int32_t *x, int32_t *y)
{
    return launch_each(stream, (size_t)batch * (size_t)length, gather_tokens, (unsigned)length,
                       token_bytes, tokens, pick, x, y);
}

/* Augments images. A line is a row of one channel of an image. */
static __global__ void augment_rows(unsigned rows, struct augment augment,
                                    const struct augmentation *each, const float *from, float *to)
{
    const int height = augment.shape.height, width = augment.shape.width, hole = augment.hole;
    EACH_LINE (line, rows) {
        const int row = (int)(line % (unsigned)height);
        const unsigned plane = line / (unsigned)height; /* channel, counted over all images */
        const struct augmentation own = each[plane / (unsigned)augment.shape.channels];
        const int moved_row = row + own.down;
        const bool in_rows = moved_row >= 0 && moved_row < height;
        const bool in_hole = row >= own.hole_top && row < own.hole_top + hole;
        const float *source = from + ((size_t)plane * height + (in_rows ? moved_row : 0)) * width;
        EACH_PLACE (place, (unsigned)width) {
            const int column = (int)place, moved = column + own.right;
            float value = augment.outside;
            if (in_rows && moved >= 0 && moved < width)
                value = source[own.mirrored ? width - 1 - moved : moved];
            if (in_hole && column >= own.hole_left && column < own.hole_left + hole)
                value = 0;
            to[(size_t)line * width + column] = value;
        }
    }
}

cudaError_t kernel_augment(cudaStream_t stream, struct augment augment, int batch,
                           const struct augmentation *each, const float *from, float *to)
{
    const size_t rows =
        (size_t)batch * (size_t)augment.shape.channels * (size_t)augment.shape.height;
    return launch_lines(stream, rows, augment_rows, augment, each, from, to);
}
