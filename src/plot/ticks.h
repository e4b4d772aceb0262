/* Ticks of an axis: round numbers (1, 2 or 5 times a power of ten) that bound the data.
 * Held by tests/unit/plot/test_ticks.c.
 */
#ifndef HEARSAY_PLOT_TICKS_H
#define HEARSAY_PLOT_TICKS_H

#define TICKS_TEXT_BYTES 32

struct ticks {
    double first, step; /* lowest tick, and distance between ticks */
    int count;          /* number of ticks, at least two */
};

/* Returns about this many ticks, the first <= low and the last >= high. Bounds are finite and low
 * <= high. */
struct ticks ticks_around(double low, double high, int about);

/* Returns about this many ticks between bounds that need not be round; low < high. */
struct ticks ticks_within(double low, double high, int about);

double ticks_at(const struct ticks *ticks, int i);
double ticks_last(const struct ticks *ticks);

/* Formats a tick with as many digits as the step has: "0.25", "1500", "40k", "2.5M". */
const char *ticks_text(const struct ticks *ticks, int i, char out[static TICKS_TEXT_BYTES]);

#endif
