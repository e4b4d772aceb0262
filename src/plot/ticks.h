/* Ticks of an axis: multiples of a round step, which is 1, 2 or 5 times a power of ten. The
 * ticks of ticks_around bound the data. The ticks of ticks_within lie inside it. Tests:
 * tests/unit/plot/test_ticks.c.
 */
#ifndef HEARSAY_PLOT_TICKS_H
#define HEARSAY_PLOT_TICKS_H

#define TICKS_TEXT_BYTES 32

struct ticks {
    double first, step; /* the lowest tick, and the distance between two ticks */
    int count;
};

/* Returns about `about` ticks around low .. high: the first tick is <= low, the last one >=
 * high. low and high are finite, low <= high, about >= 2. */
struct ticks ticks_around(double low, double high, int about);

/* Returns about `about` ticks within low .. high, perhaps fewer than two. low and high are
 * finite, low < high, about >= 2. */
struct ticks ticks_within(double low, double high, int about);

double ticks_at(const struct ticks *ticks, int i);
double ticks_last(const struct ticks *ticks);

/* Writes the label of tick i, with enough digits to differ from the next label: "0.25", "1500",
 * "40k", "2.5M". Returns out. */
const char *ticks_text(const struct ticks *ticks, int i, char out[static TICKS_TEXT_BYTES]);

#endif
