#include "threshold.h"

#include <math.h>
#include <string.h>

#define RUMOR_BYTES   64800.0 /* what fits one rumor beside its head ... */
#define RUMOR_ADDS    150.0   /* ... and what head, signature, record and message add */
#define CODE_OVERHEAD 1.03    /* Rice codes over the entropy */
#define LAYER_BITS    48.0

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

/* How much is told: the sum of tau·|level|. */
static double mass_at(const uint32_t *above, uint32_t bin)
{
    double levels = 0;
    const float tau = edge_of(bin);
    for (int level = 1; level <= LEVEL_MAX; level++) {
        const uint32_t at = bin_of(tau * (float)level);
        if (at >= HISTOGRAM_BINS || above[at] == 0)
            break;
        levels += above[at];
    }
    return levels * (double)tau;
}

float threshold_choose(const uint32_t bins[static HISTOGRAM_BINS], size_t parameters,
                       uint32_t count_max, size_t budget_bytes)
{
    uint32_t above[HISTOGRAM_BINS];
    uint32_t sum = 0;
    const uint32_t infinity = bin_of(INFINITY);
    for (uint32_t bin = HISTOGRAM_BINS; bin-- > 0;) {
        sum += bin < infinity ? bins[bin] : 0;
        above[bin] = sum;
    }
    const uint32_t top = bin_of(TAU_MAX);
    if (above[top] > count_max ||
        (above[top] > 0 && bytes_at(above, parameters, top) > (double)budget_bytes))
        return TAU_MAX; /* as many as fit; the others next time */
    /* Down from TAU_MAX as long as it fits. Where most levels stand at their limit a lower tau
     * takes fewer bytes again, but tells less: end when even full levels could not tell more.
     * Bin 0 holds the zeros. */
    double best = 0;
    float tau = 0;
    for (uint32_t bin = top; bin > 0; bin--) {
        if (above[bin] > count_max || bytes_at(above, parameters, bin) > (double)budget_bytes ||
            best > (double)LEVEL_MAX * (double)edge_of(bin) * above[1])
            break;
        const double mass = mass_at(above, bin);
        if (mass > best) {
            best = mass;
            tau = edge_of(bin);
        }
    }
    return tau;
}
