#include "threshold.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define RUMOR_BYTES   64800.0 /* what fits one rumor beside its head ... */
#define RUMOR_ADDS    150.0   /* ... and what head, signature, record and message add */
#define CODE_OVERHEAD 1.03    /* Rice codes over the entropy */
#define LAYER_BITS    48.0
#define FLOOR_BINS    12 /* of 3 % */

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

/* The histogram added up, as far as it is needed: above[b] finite residuals lie in bins >= b, for
 * lowest <= b <= highest, the last bin that holds one. */
struct tally {
    const uint32_t *bins;
    uint32_t highest;
    uint32_t lowest;
    uint32_t above[HISTOGRAM_BINS];
};

/* The last bin below `end` that is not empty; 0 if all are, or only bin 0 is not. A small model
 * leaves nearly all of them empty, so look at many at once. */
static uint32_t last_used(const uint32_t *bins, uint32_t end)
{
    static const uint32_t empty[32];
    while (end > 32 && memcmp(bins + end - 32, empty, sizeof empty) == 0)
        end -= 32;
    while (end > 1 && bins[end - 1] == 0)
        end--;
    return end - 1;
}

static void tally_begin(struct tally *tally, const uint32_t *bins)
{
    tally->bins = bins;
    tally->highest = tally->lowest = last_used(bins, bin_of(INFINITY));
    tally->above[tally->highest] = bins[tally->highest];
}

static void tally_down_to(struct tally *tally, uint32_t bin)
{
    for (; tally->lowest > bin; tally->lowest--)
        tally->above[tally->lowest - 1] =
            tally->above[tally->lowest] + tally->bins[tally->lowest - 1];
}

/* How many levels there are at the lower edge of a bin, and how many entries reach them, summed. */
struct reach {
    int levels;
    double entries;
};

static struct reach reach_at(const struct tally *tally, uint32_t bin)
{
    struct reach reach = {0};
    const float tau = edge_of(bin);
    while (reach.levels < LEVEL_MAX) {
        const uint32_t at = bin_of(tau * (float)(reach.levels + 1));
        if (at > tally->highest)
            break;
        reach.levels++;
        reach.entries += tally->above[at];
    }
    return reach;
}

static double bytes_of(double bits)
{
    const double body = bits / 8;
    return body + RUMOR_ADDS * ceil(body / RUMOR_BYTES);
}

static double bytes_at(const struct tally *tally, size_t parameters, uint32_t bin, int levels)
{
    const float tau = edge_of(bin);
    double bits = tally->above[bin]; /* the signs */
    double of = (double)parameters;
    for (int level = 1; level <= levels; level++) {
        const double count = tally->above[bin_of(tau * (float)level)];
        bits += CODE_OVERHEAD * bits_of_choice(count, of) + LAYER_BITS;
        of = count;
    }
    return bytes_of(bits);
}

/* Saying which of n are meant never takes more than n bits: where even so it fits, as is usual in
 * a small model, the logarithms of every level but the first are spared. */
static bool fits(const struct tally *tally, size_t parameters, uint32_t bin,
                 const struct reach *reach, size_t budget_bytes)
{
    const double first = tally->above[bin];
    const double most =
        first + CODE_OVERHEAD * (bits_of_choice(first, (double)parameters) + reach->entries) +
        LAYER_BITS * reach->levels;
    return bytes_of(most) <= (double)budget_bytes ||
           bytes_at(tally, parameters, bin, reach->levels) <= (double)budget_bytes;
}

/* How many residuals are neither zero (bin 0, if it was counted) nor infinite nor not a number (the
 * last bins); or more. */
static double count_nonzero(const uint32_t *bins, size_t parameters)
{
    double count = (double)parameters - bins[0];
    for (uint32_t bin = bin_of(INFINITY); bin < HISTOGRAM_BINS; bin++)
        count -= bins[bin];
    return count;
}

/* Is there too much even at the highest tau? */
static bool is_beyond(struct tally *tally, size_t parameters, uint32_t count_max,
                      size_t budget_bytes)
{
    const uint32_t top = bin_of(TAU_MAX);
    if (tally->highest < top)
        return false;
    tally_down_to(tally, top);
    const struct reach reach = reach_at(tally, top);
    return tally->above[top] > count_max || !fits(tally, parameters, top, &reach, budget_bytes);
}

float threshold_floor(float tau)
{
    const uint32_t bin = bin_of(tau);
    return bin > FLOOR_BINS ? edge_of(bin - FLOOR_BINS) : 0;
}

float threshold_choose(const uint32_t bins[static HISTOGRAM_BINS], float floor, size_t parameters,
                       uint32_t count_max, size_t budget_bytes)
{
    struct tally tally;
    tally_begin(&tally, bins);
    if (tally.highest < bin_of(floor))
        return TAU_BELOW;
    if (is_beyond(&tally, parameters, count_max, budget_bytes))
        return TAU_MAX; /* as many as fit; the others next time */
    /* Down as long as it fits. Where most levels stand at their limit a lower tau takes fewer
     * bytes again, but tells less: end when even full levels could not tell more. Bin 0 holds the
     * zeros. */
    const double full_levels = (double)LEVEL_MAX * count_nonzero(bins, parameters);
    double best = 0;
    float tau = 0;
    for (uint32_t bin = tally.lowest; bin > 0; bin--) {
        if (bin < bin_of(floor))
            return TAU_BELOW;
        tally_down_to(&tally, bin);
        if (tally.above[bin] > count_max || best > full_levels * (double)edge_of(bin))
            break;
        const struct reach reach = reach_at(&tally, bin);
        if (!fits(&tally, parameters, bin, &reach, budget_bytes))
            break;
        const double mass = reach.entries * (double)edge_of(bin); /* the sum of tau·|level| */
        if (mass > best) {
            best = mass;
            tau = edge_of(bin);
        }
    }
    return tau;
}
