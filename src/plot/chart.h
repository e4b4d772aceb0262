/* A chart: named curves in one frame. Drawn by chart_svg.h and chart_text.h. */
#ifndef HEARSAY_PLOT_CHART_H
#define HEARSAY_PLOT_CHART_H

#include <stdbool.h>
#include <stddef.h>

#define CHART_CURVES_MAX 64

/* A curve: points in the order of x, all finite. */
struct curve {
    const char *name;    /* for the legend */
    const double *x, *y; /* [count] */
    size_t count;        /* number of points; 0 = only in the legend */
};

/* The visible area. */
struct bounds {
    double left, right, low, high;
};

struct chart {
    const char *title;          /* title above it; "" = none */
    const char *x_name;         /* name of the horizontal axis, with its unit */
    const char *y_name;         /* name of the vertical axis */
    const struct curve *curves; /* [count] */
    size_t count;               /* at most CHART_CURVES_MAX */
    bool has_range;             /* low and high are given; otherwise computed */
    double low, high;           /* bounds of the frame on the vertical axis */
};

/* Returns bounds of all points and given values, with some extent even for a single point. x starts
 * at 0 unless the data start far from it. */
struct bounds chart_bounds(const struct chart *chart);

/* Returns a curve that looks the same in a frame of this many columns: the lowest and highest point
 * of each column, at most 2 columns + 2 points. The caller frees its x and y. */
struct curve curve_thin(const struct curve *curve, const struct bounds *bounds, size_t columns);

#endif
