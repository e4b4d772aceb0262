/* Where an axis has its ticks: at round numbers (1, 2 or 5 times a power of ten), which bound what
 * is to be seen. Held by tests/unit/plot/test_ticks.c. */
#ifndef HEARSAY_PLOT_TICKS_H
#define HEARSAY_PLOT_TICKS_H

#define TICKS_TEXT_BYTES 32

struct ticks {
    double first, step; /* the lowest tick, and from one to the next */
    int count;          /* two at least */
};

/* About so many ticks, the first at or below low and the last at or above high. Finite,
 * low <= high. */
struct ticks ticks_around(double low, double high, int about);

/* About so many ticks between the bounds, which themselves need not be round; low < high. */
struct ticks ticks_within(double low, double high, int about);

double ticks_at(const struct ticks *ticks, int i);
double ticks_last(const struct ticks *ticks);

/* The number at a tick with as many digits as the step has: "0.25", "1500", "40k", "2.5M". */
const char *ticks_text(const struct ticks *ticks, int i, char out[static TICKS_TEXT_BYTES]);

#endif
