#include "exchange/threshold.h"

#include <math.h>
#include <stdbool.h>

#include "backend/error_feedback.h"
#include "base/error.h"
#include "base/float_bits.h"

#define SATURATED_BIN (SATURATED_BITS >> BIN_BITS)

#define RUMOR_BYTES 64800.0 /* estimated bytes of the entries in a full rumor */
/* Estimated bytes of a rumor besides its entries. The actual number is at least 192, for head and
 * signature; size_ratio corrects the difference. */
#define RUMOR_ADDS    150.0
#define CODE_OVERHEAD 1.03 /* size of Rice codes divided by the entropy */
#define LAYER_BITS    48.0 /* header of one level's set of entries */
#define FLOOR_BINS    9    /* bins from a threshold down to the next survey's floor */
#define RATIO_FADE    0.5  /* decay per publication of the sums in size_ratio */
#define RATIO_LEAST   0.0625
#define RATIO_MOST    2.0

float threshold_edge(uint32_t bin)
{
    CHECK(bin < HISTOGRAM_BINS);
    return float_of_bits(bin << BIN_BITS);
}

static uint32_t bin_of(float value)
{
    CHECK(value >= 0);
    return bits_of_float(value) >> BIN_BITS;
}

/* Returns the entropy, in bits, of a choice of m elements out of n. */
static double bits_of_choice(double m, double n)
{
    if (m <= 0 || m >= n)
        return 0;
    double p = m / n;
    return -n * (p * log2(p) + (1 - p) * log2(1 - p));
}

/* Cumulative sums of a histogram, which tally_down_to extends on demand. */
struct tally {
    const uint32_t *bins; /* [HISTOGRAM_BINS] the histogram */
    uint32_t highest;     /* highest bin that holds a finite residual */
    uint32_t lowest;      /* lowest bin that `above` covers */
    /* [b] number of finite residuals in bins b and above; valid for lowest <= b <= highest */
    uint32_t above[HISTOGRAM_BINS];
};

/* Returns the highest bin below `end` that is not empty; 0 if bins 1 .. end-1 are empty. Compares
 * 32 bins at once, since most bins of a small model are empty. */
static uint32_t last_used(const uint32_t *bins, uint32_t end)
{
    CHECK(end > 0 && end <= HISTOGRAM_BINS);
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
    CHECK(bin <= tally->highest && tally->lowest <= tally->highest);
    for (; tally->lowest > bin; tally->lowest--)
        tally->above[tally->lowest - 1] =
            tally->above[tally->lowest] + tally->bins[tally->lowest - 1];
}

/* A publication whose tau is the lower edge of a bin. */
struct reach {
    int levels;     /* highest |level| of an entry */
    double entries; /* sum of |level| over the published entries */
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
    CHECK(bits >= 0);
    const double body = bits / 8;
    return body + RUMOR_ADDS * ceil(body / RUMOR_BYTES);
}

/* Returns the estimated bytes of rumors with `entries` entries. Assumes as many entries of each
 * level above 1 as with tau at the bin's lower edge. */
static double bytes_at(const struct tally *tally, size_t parameters, uint32_t bin, int levels,
                       uint32_t entries)
{
    const float tau = threshold_edge(bin);
    double bits = entries; /* one sign per entry */
    double of = (double)parameters;
    for (int level = 1; level <= levels; level++) {
        const double count = level == 1 ? entries : tally->above[bin_of(tau * (float)level)];
        bits += CODE_OVERHEAD * bits_of_choice(count, of) + LAYER_BITS;
        of = count;
    }
    return bytes_of(bits);
}

static double bytes_by_edge(const struct tally *tally, size_t parameters, uint32_t bin)
{
    return bytes_at(tally, parameters, bin, reach_at(tally, bin).levels, tally->above[bin]);
}

/* Returns true if rumors with tau at the bin's lower edge fit the budget. Tries an upper bound of
 * their size first: a choice out of n takes at most n bits. That bound usually fits in a small
 * model, so only the first level needs logarithms. */
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

uint32_t threshold_lost(const uint32_t bins[static HISTOGRAM_BINS])
{
    uint32_t count = 0;
    for (uint32_t bin = bin_of(INFINITY); bin < SATURATED_BIN; bin++)
        count += bins[bin];
    return count;
}

uint32_t threshold_saturated(const uint32_t bins[static HISTOGRAM_BINS])
{
    return bins[SATURATED_BIN];
}

/* Returns an upper bound on the number of residuals that are not zero, lost or saturated. Bin 0
 * holds the zeros if the floor was 0. */
static double count_nonzero(const uint32_t *bins, size_t parameters)
{
    return (double)parameters - bins[0] - threshold_lost(bins) - threshold_saturated(bins);
}

/* Returns true if even tau = TAU_MAX would publish too many entries or bytes. */
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
    CHECK(count_max > 0);
    tally_begin(&tally, bins);
    if (tally.highest < bin_of(floor))
        return (struct threshold){.tau = TAU_BELOW};
    if (is_beyond(&tally, parameters, count_max, budget_bytes))
        return (struct threshold){.tau = TAU_MAX};
    /* Lowers tau bin by bin while the rumors fit. If most entries have level LEVEL_MAX, a lower tau
     * takes fewer bytes, but also publishes less. So the loop also ends where tau is too low to
     * publish more, even with all entries at LEVEL_MAX. Bin 0 holds the zeros. */
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
    CHECK(chosen.tau >= 0 && chosen.tau <= TAU_MAX);
    if (chosen.tau > 0)
        chosen.bytes = bytes_by_edge(&tally, parameters, bin_of(chosen.tau));
    return chosen;
}

void threshold_split(struct threshold *chosen, const uint32_t bins[static HISTOGRAM_BINS],
                     const uint32_t parts[static BIN_PARTS], size_t parameters, uint32_t count_max,
                     size_t budget_bytes)
{
    struct tally tally;
    CHECK(chosen->split > 0 && chosen->split < HISTOGRAM_BINS);
    tally_begin(&tally, bins);
    tally_down_to(&tally, chosen->split);
    const struct reach reach = reach_at(&tally, chosen->split);
    uint32_t from = BIN_PARTS, published = tally.above[chosen->split] - bins[chosen->split];
    for (uint32_t half = BIN_PARTS / 2; half > 0; half /= 2) {
        uint32_t more = published;
        for (uint32_t part = from - half; part < from; part++)
            more += parts[part];
        if (more <= count_max && bytes_at(&tally, parameters, chosen->split, reach.levels, more) <=
                                     (double)budget_bytes) {
            published = more;
            from -= half;
        }
    }
    const float edge = float_of_bits((chosen->split << BIN_BITS) + (from << PART_BITS));
    const double entries = reach.entries - tally.above[chosen->split] + published;
    if (entries * (double)edge <= chosen->mass)
        return;
    chosen->mass = entries * (double)edge;
    chosen->tau = edge;
    chosen->bytes = bytes_at(&tally, parameters, chosen->split, reach.levels, published);
}

void size_ratio_learn(struct size_ratio *ratio, uint64_t bytes)
{
    CHECK(ratio->last >= 0);
    if (bytes > 0 && ratio->last > 0) {
        ratio->taken = RATIO_FADE * ratio->taken + (double)bytes;
        ratio->estimated = RATIO_FADE * ratio->estimated + ratio->last;
    }
    ratio->last = 0;
}

size_t size_ratio_budget(const struct size_ratio *ratio, uint32_t budget_bytes, uint32_t bytes_max)
{
    const double learned = ratio->estimated > 0 ? ratio->taken / ratio->estimated : 1;
    const double bounded = fmin(fmax(learned, RATIO_LEAST), RATIO_MOST);
    const double saved = fmax(ratio->estimated - ratio->taken, 0);
    return (size_t)fmin(fmin(budget_bytes / bounded, budget_bytes + saved),
                        fmax(budget_bytes, bytes_max));
}
