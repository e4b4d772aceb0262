/* A chart: several named curves in one frame. chart_svg.h and chart_text.h draw it. */
#ifndef HEARSAY_PLOT_CHART_H
#define HEARSAY_PLOT_CHART_H

#include <stdbool.h>
#include <stddef.h>

#define CHART_CURVES_MAX 64

/* A curve. x ascends, and all values are finite. */
struct curve {
    const char *name;    /* name of the curve in the legend */
    const double *x, *y; /* [count] coordinates of the points */
    size_t count;        /* number of points; 0 = the curve appears only in the legend */
};

/* Values of x and y at the four sides of the frame. */
struct bounds {
    double left, right, low, high;
};

struct chart {
    const char *title;          /* title above the chart; "" = none */
    const char *x_name;         /* name and unit of the horizontal axis */
    const char *y_name;         /* name and unit of the vertical axis */
    const struct curve *curves; /* [count] curves; later ones are drawn over earlier ones */
    size_t count;               /* number of curves, at most CHART_CURVES_MAX */
    bool has_range;             /* low and high are set; false = chart_bounds computes them */
    double low, high;           /* values of y at the lower and upper side of the frame */
};

/* Returns the bounds of all points of the chart. If has_range, low and high are those of the
 * chart. left is less than right, even if all points have the same x. left is 0 if the smallest x
 * is below half the largest. */
struct bounds chart_bounds(const struct chart *chart);

/* Returns a copy of the curve with only the lowest and the highest point of each column of the
 * frame. It looks the same at `columns` columns, and has at most 2 · columns points. The caller
 * frees its x and y. */
struct curve curve_thin(const struct curve *curve, const struct bounds *bounds, size_t columns);

#endif
