#include "strategies/one_bit.h"

#include <stdbool.h>

#include "base/error.h"

void one_bit_compress(float *values, float *error, size_t count)
{
    double sums[2] = {0};
    size_t entries[2] = {0};
    CHECK(count > 0);
    for (size_t c = 0; c < count; c++) {
        error[c] += values[c];
        const bool is_below = error[c] < 0;
        sums[is_below] += error[c];
        entries[is_below]++;
    }
    float said[2] = {0};
    for (int side = 0; side < 2; side++)
        if (entries[side] > 0)
            said[side] = (float)(sums[side] / (double)entries[side]);
    for (size_t c = 0; c < count; c++) {
        values[c] = said[error[c] < 0];
        error[c] -= values[c];
    }
}

uint64_t one_bit_bits(size_t count)
{
    return count + 2 * 8 * sizeof(float);
}
