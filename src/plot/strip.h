/* A growing curve in a few rows of a terminal, with its bounds on the left.
 *
 *      0.8 │⠑⠢⢄⣀
 *          │    ⠉⠒⠤⣀⡀
 *      0.2 │         ⠈⠉⠒
 *
 * Tests: tests/unit/plot/test_timeline.c.
 */
#ifndef HEARSAY_PLOT_STRIP_H
#define HEARSAY_PLOT_STRIP_H

#include "plot/dots.h"
#include "plot/timeline.h"

#define STRIP_MARGIN 9 /* characters left of the curve, for the labels */

struct strip {
    struct dots dots;         /* the curve; low and high are the bounds */
    char top[16], bottom[16]; /* labels of the first and the last row */
};

/* Like strip_within, but sets the bounds to round numbers that enclose all values, and labels
 * them. */
void strip_of(struct strip *strip, struct timeline *timeline, double now_s, int rows, int columns,
              bool is_utf8);

/* Draws the timeline from its first point to now_s in rows · columns characters, margin included.
 * The caller has set dots.low, dots.high, dots.is_utf8, top and bottom. */
void strip_within(struct strip *strip, struct timeline *timeline, double now_s, int rows,
                  int columns);

/* Prints no newline. colour: ANSI sequence printed before the curve, or "". */
void strip_print_row(const struct strip *strip, FILE *out, int row, const char *colour);

#endif
