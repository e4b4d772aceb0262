#include "exchange/threshold.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define RUMOR_BYTES   64800.0 /* what fits one rumor beside its head ... */
#define RUMOR_ADDS    150.0   /* ... and what head, signature, record and message add */
#define CODE_OVERHEAD 1.03    /* Rice codes over the entropy */
#define LAYER_BITS    48.0
#define FLOOR_BINS    9 /* of 3 % */

static float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

float threshold_edge(uint32_t bin)
{
    return float_of(bin << BIN_BITS);
}

static uint32_t bin_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits >> BIN_BITS;
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
    const float tau = threshold_edge(bin);
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

/* With so many entries in all, and the higher levels as at the lower edge of a bin. */
static double bytes_at(const struct tally *tally, size_t parameters, uint32_t bin, int levels,
                       uint32_t entries)
{
    const float tau = threshold_edge(bin);
    double bits = entries; /* the signs */
    double of = (double)parameters;
    for (int level = 1; level <= levels; level++) {
        const double count = level == 1 ? entries : tally->above[bin_of(tau * (float)level)];
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
           bytes_at(tally, parameters, bin, reach->levels, tally->above[bin]) <=
               (double)budget_bytes;
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
    return bin > FLOOR_BINS ? threshold_edge(bin - FLOOR_BINS) : 0;
}

struct threshold threshold_choose(const uint32_t bins[static HISTOGRAM_BINS], float floor,
                                  size_t parameters, uint32_t count_max, size_t budget_bytes)
{
    struct tally tally;
    struct threshold chosen = {0};
    tally_begin(&tally, bins);
    if (tally.highest < bin_of(floor))
        return (struct threshold){.tau = TAU_BELOW};
    if (is_beyond(&tally, parameters, count_max, budget_bytes))
        return (struct threshold){.tau = TAU_MAX}; /* as many as fit; the others next time */
    /* Down as long as it fits. Where most levels stand at their limit a lower tau takes fewer
     * bytes again, but tells less: end when even full levels could not tell more. Bin 0 holds the
     * zeros. */
    const double full_levels = (double)LEVEL_MAX * count_nonzero(bins, parameters);
    for (uint32_t bin = tally.lowest; bin > 0; bin--) {
        const float edge = threshold_edge(bin);
        if (bin < bin_of(floor))
            return (struct threshold){.tau = TAU_BELOW};
        tally_down_to(&tally, bin);
        if (chosen.mass > full_levels * (double)edge)
            break;
        const struct reach reach = reach_at(&tally, bin);
        if (tally.above[bin] > count_max || !fits(&tally, parameters, bin, &reach, budget_bytes)) {
            chosen.split = bin;
            break;
        }
        const double mass = reach.entries * (double)edge;
        if (mass > chosen.mass) {
            chosen.mass = mass;
            chosen.tau = edge;
        }
    }
    return chosen;
}

float threshold_split(const struct threshold *chosen, const uint32_t bins[static HISTOGRAM_BINS],
                      const uint32_t parts[static BIN_PARTS], size_t parameters, uint32_t count_max,
                      size_t budget_bytes)
{
    struct tally tally;
    tally_begin(&tally, bins);
    tally_down_to(&tally, chosen->split);
    const struct reach reach = reach_at(&tally, chosen->split);
    uint32_t from = BIN_PARTS, told = tally.above[chosen->split] - bins[chosen->split];
    for (uint32_t half = BIN_PARTS / 2; half > 0; half /= 2) {
        uint32_t more = told;
        for (uint32_t part = from - half; part < from; part++)
            more += parts[part];
        if (more <= count_max && bytes_at(&tally, parameters, chosen->split, reach.levels, more) <=
                                     (double)budget_bytes) {
            told = more;
            from -= half;
        }
    }
    const float edge = float_of((chosen->split << BIN_BITS) + (from << PART_BITS));
    const double entries = reach.entries - tally.above[chosen->split] + told;
    return entries * (double)edge > chosen->mass ? edge : chosen->tau;
}
