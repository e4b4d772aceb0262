/* What a backend makes a batch of: samples picked from a data set, on every backend, against naive
 * references. */
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
    for (size_t size = 1; size <= 8; size++) { /* by fours, and not */
        case_begin(state);
        for (int i = 0; i < 32; i++)
            pixels[i] = (uint8_t)(i * 13);
        backend->gather.pixels(backend, 3, size, pixels, pick, 100.5f, 0.25f, y);
        for (size_t i = 0; i < 3 * size; i++)
            want_y[i] = (pixels[pick[i / size] * size + i % size] - 100.5) * 0.25;
        check_near(y, want_y, 3 * size, LOOP_NMSE);
        assert_true(isnan(y[3 * size]));
    }
}

/* Whatever the bits mean: labels, numbers, NaN with a payload. */
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
        backend->gather.rows(backend, 4, size, rows, pick, got);
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
        backend->gather.tokens(backend, 3, 6, 1 << kind, tokens[kind], pick, got_x, got_y);
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

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, case_begin)
    const struct CMUnitTest tests[] = {
        TEST(pixels_are_picked_and_normalised),
        TEST(rows_are_picked_bit_for_bit),
        TEST(tokens_are_gathered_with_those_that_follow),
    };
    RUN_ON_EACH_DEVICE(tests, host_backend_opens, host_backend_closes);
}
