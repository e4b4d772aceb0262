#include "threshold.h"

#include <math.h>
#include <string.h>

#define RUMOR_BYTES  64800.0 /* what fits one rumor beside its head ... */
#define RUMOR_ADDS   150.0   /* ... and what head, signature, record and message add */
#define CODE_OVERHEAD 1.03   /* Rice codes over the entropy */
#define LAYER_BITS   48.0

static float edge_of(uint32_t bin)
{
    uint32_t bits = bin << 18;
    float edge;
    memcpy(&edge, &bits, sizeof edge);
    return edge;
}

static uint32_t bin_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits >> 18;
}

/* Bits to say which m of n are meant. */
static double bits_of_choice(double m, double n)
{
    if (m <= 0 || m >= n)
        return 0;
    double p = m / n;
    return -n * (p * log2(p) + (1 - p) * log2(1 - p));
}

/* above[b]: entries in bins >= b. */
static double bytes_at(const uint32_t *above, size_t parameters, uint32_t bin)
{
    double bits = above[bin]; /* the signs */
    double of = (double)parameters;
    float tau = edge_of(bin);
    for (int level = 1; level <= LEVEL_MAX; level++) {
        uint32_t at = bin_of(tau * (float)level);
        if (at >= HISTOGRAM_BINS || above[at] == 0)
            break;
        bits += CODE_OVERHEAD * bits_of_choice(above[at], of) + LAYER_BITS;
        of = above[at];
    }
    double body = bits / 8;
    return body + RUMOR_ADDS * ceil(body / RUMOR_BYTES);
}

float threshold_choose(const uint32_t bins[static HISTOGRAM_BINS], size_t parameters,
                       uint32_t count_max, size_t budget_bytes)
{
    uint32_t above[HISTOGRAM_BINS];
    uint32_t sum = 0;
    uint32_t infinity = bin_of(INFINITY);
    for (uint32_t bin = HISTOGRAM_BINS; bin-- > 0;) {
        sum += bin < infinity ? bins[bin] : 0;
        above[bin] = sum;
    }
    /* Fewer entries and fewer bytes the higher the bin: find the first that fits. Bin 0 holds the
     * zeros, and nothing is told above TAU_MAX. */
    uint32_t low = 1, high = bin_of(TAU_MAX) + 1;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        bool fits = above[middle] <= count_max &&
                    bytes_at(above, parameters, middle) <= (double)budget_bytes;
        if (fits)
            high = middle;
        else
            low = middle + 1;
    }
    return low <= bin_of(TAU_MAX) && above[low] > 0 ? edge_of(low) : 0;
}
