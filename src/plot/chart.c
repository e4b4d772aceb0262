#include "plot/chart.h"

#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/min_max.h"

/* the x axis starts at 0 if the smallest x is positive and less than this part of the largest */
#define FROM_ZERO 0.5

struct bounds chart_bounds(const struct chart *chart)
{
    struct bounds all = {INFINITY, -INFINITY, INFINITY, -INFINITY};
    CHECK(chart->count <= CHART_CURVES_MAX);
    for (size_t k = 0; k < chart->count; k++)
        for (size_t i = 0; i < chart->curves[k].count; i++) {
            const double x = chart->curves[k].x[i], y = chart->curves[k].y[i];
            CHECK(isfinite(x) && isfinite(y));
            all = (struct bounds){fmin(all.left, x), fmax(all.right, x), fmin(all.low, y),
                                  fmax(all.high, y)};
        }
    if (all.left > all.right)
        all = (struct bounds){0, 1, 0, 1}; /* the curves have no points */
    if (all.left > 0 && all.left < FROM_ZERO * all.right)
        all.left = 0;
    if (all.left == all.right)
        all.right = all.left + fmax(1, fabs(all.left) * 1e-6);
    if (chart->has_range) {
        all.low = chart->low;
        all.high = chart->high;
    }
    return all;
}

static void add(struct curve *thin, double *x, double *y, const struct curve *curve, size_t i)
{
    x[thin->count] = curve->x[i];
    y[thin->count++] = curve->y[i];
}

/* Returns the column of an x, 0 .. columns-1. */
static size_t column_of(double x, const struct bounds *bounds, size_t columns)
{
    const double part = (x - bounds->left) / (bounds->right - bounds->left);
    return (size_t)(fmin(fmax(part, 0), 1) * (double)(columns - 1));
}

struct curve curve_thin(const struct curve *curve, const struct bounds *bounds, size_t columns)
{
    CHECK(columns > 1 && bounds->left < bounds->right);
    const size_t room = size_min(curve->count, 2 * columns);
    double *x = memory_new(room + 2, sizeof *x), *y = memory_new(room + 2, sizeof *y);
    struct curve thin = {.name = curve->name, .x = x, .y = y};
    for (size_t i = 0; i < curve->count;) {
        const size_t column = column_of(curve->x[i], bounds, columns);
        size_t lowest = i, highest = i, end = i + 1;
        for (; end < curve->count && column_of(curve->x[end], bounds, columns) == column; end++) {
            lowest = curve->y[end] < curve->y[lowest] ? end : lowest;
            highest = curve->y[end] > curve->y[highest] ? end : highest;
        }
        add(&thin, x, y, curve, size_min(lowest, highest));
        if (lowest != highest)
            add(&thin, x, y, curve, size_max(lowest, highest));
        i = end;
    }
    CHECK(thin.count <= room + 2);
    return thin;
}
