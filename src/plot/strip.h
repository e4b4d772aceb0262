/* A curve that grows, in some rows of a screen, with its bounds at the left.
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
    char top[16], bottom[16]; /* what is written at the left of the first and the last row */
};

/* The whole of it in so many rows and columns, the right side now. Bounds are round numbers around
 * all values. */
void strip_of(struct strip *strip, struct timeline *timeline, double now_s, int rows, int columns,
              bool is_utf8);

/* The same in a frame that is given: the strip's dots have their bounds, top and bottom their
 * texts. rows and columns: of the whole. */
void strip_within(struct strip *strip, struct timeline *timeline, double now_s, int rows,
                  int columns);

/* One row, without a newline; colour: ANSI, or "". */
void strip_print_row(const struct strip *strip, FILE *out, int row, const char *colour);

#endif
