/* A chart: several named curves in one frame. chart_svg.h and chart_text.h draw it. */
#ifndef HEARSAY_PLOT_CHART_H
#define HEARSAY_PLOT_CHART_H

#include <stdbool.h>
#include <stddef.h>

#define CHART_CURVES_MAX 64

/* x ascends, and all values are finite. */
struct curve {
    const char *name;    /* name of the curve in the legend */
    const double *x, *y; /* [count] */
    size_t count;        /* points; 0 = the curve appears only in the legend */
};

/* Values of x and y at the four sides of the frame. */
struct bounds {
    double left, right, low, high;
};

struct chart {
    const char *title;          /* "" = none */
    const char *x_name;         /* name of the x axis, with its unit */
    const char *y_name;         /* name of the y axis, with its unit */
    const struct curve *curves; /* [count] later ones are drawn over earlier ones */
    size_t count;               /* at most CHART_CURVES_MAX */
    bool has_range;             /* low and high are set; false = chart_bounds computes them */
    double low, high;           /* y at the lower and upper side of the frame */
};

/* Returns the bounds of all points; if has_range, low and high are those of the chart. left is less
 * than right, even if all points have the same x. A positive left below half of right becomes 0. */
struct bounds chart_bounds(const struct chart *chart);

/* Returns a copy with only the lowest and the highest point of each column, so at most 2 · columns
 * points. The copy looks the same at `columns` columns. The caller frees its x and y. */
struct curve curve_thin(const struct curve *curve, const struct bounds *bounds, size_t columns);

#endif
