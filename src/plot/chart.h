/* What is to be drawn: curves with names, in one frame. Drawn by chart_svg.h, chart_text.h. */
#ifndef HEARSAY_PLOT_CHART_H
#define HEARSAY_PLOT_CHART_H

#include <stdbool.h>
#include <stddef.h>

#define CHART_CURVES_MAX 64

/* Points in the order of x, all of them finite. */
struct curve {
    const char *name;    /* for the legend */
    const double *x, *y; /* [count] */
    size_t count;        /* of points; 0: it is in the legend alone */
};

/* What the frame shows. */
struct bounds {
    double left, right, low, high;
};

struct chart {
    const char *title;          /* above it; "": none */
    const char *x_name;         /* what goes to the right, with its unit */
    const char *y_name;         /* what goes up */
    const struct curve *curves; /* [count] */
    size_t count;               /* at most CHART_CURVES_MAX */
    bool has_range;             /* low and high are given, or else found */
    double low, high;           /* of the frame */
};

/* All points, and what was given; something to be seen even if all points are one. x from 0 unless
 * it begins far from there. */
struct bounds chart_bounds(const struct chart *chart);

/* A curve that looks the same in a frame so many columns wide: of all points in a column the
 * lowest and the highest. It has at most 2 columns + 2 points; x and y are its own, and to be
 * freed. */
struct curve curve_thin(const struct curve *curve, const struct bounds *bounds, size_t columns);

#endif
