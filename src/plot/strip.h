/* A growing curve in a few rows of a terminal, with its bounds on the left.
 *
 *      0.8 │⠑⠢⢄⣀
 *          │    ⠉⠒⠤⣀⡀
 *      0.2 │         ⠈⠉⠒
 *
 * Held by tests/unit/plot/test_timeline.c.
 */
#ifndef HEARSAY_PLOT_STRIP_H
#define HEARSAY_PLOT_STRIP_H

#include "plot/dots.h"
#include "plot/timeline.h"

#define STRIP_MARGIN 9 /* columns left of the curve */

struct strip {
    struct dots dots;         /* the curve */
    char top[16], bottom[16]; /* labels of the first and the last row */
};

/* Draws the whole timeline in this many rows and columns, up to now_s. The bounds are round numbers
 * around all values. */
void strip_of(struct strip *strip, struct timeline *timeline, double now_s, int rows, int columns,
              bool is_utf8);

/* Draws the timeline in a given frame: strip->dots has the bounds, top and bottom the labels. rows
 * and columns: size of the whole strip. */
void strip_within(struct strip *strip, struct timeline *timeline, double now_s, int rows,
                  int columns);

/* Prints one row without a newline; colour: ANSI, or "". */
void strip_print_row(const struct strip *strip, FILE *out, int row, const char *colour);

#endif
