#include "support/model/host_backend.h"

/* Returns 1 + the largest row index among the picks, or 0 if there are none. */
static size_t reach_of(int batch, const uint32_t *pick)
{
    size_t count = 0;
    for (int i = 0; i < batch; i++)
        count = pick[i] >= count ? pick[i] + (size_t)1 : count;
    return count;
}

static void host_gather_pixels(struct backend *b_, int batch, size_t sample_size,
                               const uint8_t *pixels, const uint32_t *pick, float mean, float scale,
                               float *x)
{
    (void)b_;
    const size_t n = (size_t)batch;
    device_of_tests->gather->pixels(
        device_of_tests, batch, sample_size, carry(pixels, reach_of(batch, pick) * sample_size),
        carry(pick, n * sizeof *pick), mean, scale, FLOATS(x, n * sample_size));
    carry_back();
}

static void host_gather_rows(struct backend *b_, int batch, size_t size, const void *from,
                             const uint32_t *pick, void *to)
{
    (void)b_;
    const size_t n = (size_t)batch;
    device_of_tests->gather->rows(device_of_tests, batch, size,
                                  FLOATS(from, reach_of(batch, pick) * size),
                                  carry(pick, n * sizeof *pick), FLOATS(to, n * size));
    carry_back();
}

static void host_gather_tokens(struct backend *b_, int batch, int length, int token_bytes,
                               const void *tokens, const uint32_t *pick, int32_t *x, int32_t *y)
{
    (void)b_;
    const size_t n = (size_t)batch, all = n * (size_t)length * sizeof *x;
    const size_t read = (reach_of(batch, pick) + (size_t)length) * (size_t)token_bytes;
    device_of_tests->gather->tokens(device_of_tests, batch, length, token_bytes,
                                    carry(tokens, read), carry(pick, n * sizeof *pick),
                                    carry(x, all), carry(y, all));
    carry_back();
}

static void host_augment(struct backend *b_, const struct augment *augment, int batch,
                         const struct augmentation *each, const float *from, float *to)
{
    (void)b_;
    const size_t all = (size_t)batch * shape_size(augment->shape);
    device_of_tests->gather->augment(device_of_tests, augment, batch,
                                     carry(each, (size_t)batch * sizeof *each), FLOATS(from, all),
                                     FLOATS(to, all));
    carry_back();
}

const struct gather_operations host_gather = {
    .pixels = host_gather_pixels,
    .rows = host_gather_rows,
    .tokens = host_gather_tokens,
    .augment = host_augment,
};
