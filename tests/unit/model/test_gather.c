/* Gathering a batch from a data set, on every backend, compared with naive references. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/model/operands.h"

static void pixels_are_picked_and_normalised(void **state)
{
    (void)state;
    const uint32_t pick[] = {3, 0, 3};
    uint8_t pixels[32];
    for (size_t size = 1; size <= 8; size++) { /* sizes that are multiples of four, and others */
        case_begin(state);
        for (int i = 0; i < 32; i++)
            pixels[i] = (uint8_t)(i * 13);
        backend->gather->pixels(backend, 3, size, pixels, pick, 100.5f, 0.25f, y);
        for (size_t i = 0; i < 3 * size; i++)
            want_y[i] = (pixels[pick[i / size] * size + i % size] - 100.5) * 0.25;
        check_near(y, want_y, 3 * size, LOOP_NMSE);
        assert_true(isnan(y[3 * size]));
    }
}

/* Copies any bits: labels, numbers, NaN with a payload. */
static void rows_are_picked_bit_for_bit(void **state)
{
    const size_t sizes[] = {1, 2, 31, 32, 33, 100};
    const uint32_t pick[] = {5, 0, 2, 5};
    static uint32_t rows[6 * 100], got[4 * 100 + 1];
    for (size_t i = 0; i < 600; i++)
        rows[i] = (uint32_t)i * 2654435761u;
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        const size_t size = sizes[s];
        case_begin(state);
        memset(got, 0xAA, sizeof got);
        backend->gather->rows(backend, 4, size, rows, pick, got);
        for (size_t i = 0; i < 4; i++)
            assert_memory_equal(got + i * size, rows + pick[i] * size, size * sizeof *got);
        assert_int_equal(got[4 * size], 0xAAAAAAAA);
    }
}

static void tokens_are_gathered_with_those_that_follow(void **state)
{
    (void)state;
    const uint32_t pick[] = {5, 0, 93};
    uint8_t bytes[100];
    uint16_t words[100];
    int32_t numbers[100], got_x[19], got_y[19];
    for (int i = 0; i < 100; i++) {
        bytes[i] = (uint8_t)(200 + i);
        words[i] = (uint16_t)(60000 + 7 * i);
        numbers[i] = 100000 * i;
    }
    const void *const tokens[] = {bytes, words, numbers};
    for (size_t kind = 0; kind < 3; kind++) {
        memset(got_x, 0xFF, sizeof got_x);
        memset(got_y, 0xFF, sizeof got_y);
        backend->gather->tokens(backend, 3, 6, 1 << kind, tokens[kind], pick, got_x, got_y);
        for (uint32_t i = 0; i < 18; i++) {
            const uint32_t at = pick[i / 6] + i % 6;
            const int32_t want[3] = {bytes[at], words[at], numbers[at]};
            const int32_t next[3] = {bytes[at + 1], words[at + 1], numbers[at + 1]};
            assert_int_equal(got_x[i], want[kind]);
            assert_int_equal(got_y[i], next[kind]);
        }
        assert_true(got_x[18] == -1 && got_y[18] == -1);
    }
}

/* Computes the augmentation step by step, each step for the whole image. */
static void augment_reference(const struct augment *augment, const struct augmentation *own,
                              const float *from, double *to)
{
    const int height = augment->shape.height, width = augment->shape.width;
    for (int i = 0; i < (int)shape_size(augment->shape); i++) {
        const int channel = i / (height * width), row = i / width % height, column = i % width;
        const int r = row + own->down, c = column + own->right;
        double value = (double)augment->outside;
        if (r >= 0 && r < height && c >= 0 && c < width)
            value = from[(channel * height + r) * width + (own->mirrored ? width - 1 - c : c)];
        if (row >= own->hole_top && row < own->hole_top + augment->hole &&
            column >= own->hole_left && column < own->hole_left + augment->hole)
            value = 0;
        to[i] = value;
    }
}

static void images_are_mirrored_moved_and_cut_out(void **state)
{
    const struct augment cases[] = {{{1, 4, 5, 0}, 0, 9},
                                    {{3, 5, 4, 0}, 2, -2},
                                    {{2, 33, 40, 0}, 7, 0.5f},
                                    {{1, 1, 64, 0}, 3, 1}};
    const struct augmentation each[] = {{0, 0, 0, -9, -9},  {1, 0, 0, 0, 0},   {0, 2, -1, 1, 2},
                                        {1, -1, 2, -1, -1}, {0, 70, 0, 3, 39}, {1, 0, -64, 30, 38}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const size_t size = shape_size(cases[i].shape), tried = 6 * size <= ROOM ? 6 : 3;
        case_begin(state);
        for (size_t k = 0; k < tried; k++)
            augment_reference(&cases[i], &each[k], x + k * size, want_y + k * size);
        backend->gather->augment(backend, &cases[i], (int)tried, each, x, y);
        for (size_t k = 0; k < tried * size; k++)
            assert_true((double)y[k] == want_y[k]);
        assert_true(tried * size == ROOM || isnan(y[tried * size]));
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, case_begin)
    const struct CMUnitTest tests[] = {
        TEST(pixels_are_picked_and_normalised),
        TEST(rows_are_picked_bit_for_bit),
        TEST(images_are_mirrored_moved_and_cut_out),
        TEST(tokens_are_gathered_with_those_that_follow),
    };
    RUN_ON_EACH_DEVICE(tests, host_backend_opens, host_backend_closes);
}
