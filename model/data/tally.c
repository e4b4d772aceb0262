#include "data/tally.h"

#include <math.h>

void tally_add(struct tally *tally, const uint8_t *pixels, size_t count)
{
    for (size_t i = 0; i < count; i++)
        tally->of[pixels[i]]++;
}

void tally_normalise(const struct tally *tally, struct dataset *dataset)
{
    uint64_t count = 0, sum = 0, squares = 0;
    for (unsigned value = 0; value < 256; value++) {
        count += tally->of[value];
        sum += tally->of[value] * value;
        squares += tally->of[value] * value * value;
    }
    const double mean = (double)sum / (double)count;
    /* In a variable of its own, so that no compiler fuses the product into the subtraction below
     * (FMA), which would round differently. */
    const double mean_squared = mean * mean;
    const double variance = (double)squares / (double)count - mean_squared;
    dataset->mean = (float)mean;
    dataset->scale = variance > 0 ? (float)(1 / sqrt(variance)) : 1;
    dataset->input_mean = 0;
    dataset->input_deviation = variance > 0 ? 1 : 0;
}
