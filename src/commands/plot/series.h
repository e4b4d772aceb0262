/* Series read from files, over time, samples or bytes: points for each curve.
 *
 *   a node's log, JSON lines (daemon/event_log.h)       ─┐
 *   CSV with a heading, such as a simulation's series    ├─► series_read ─► points, in order of x
 *   a play of a comparison, one JSON object              ─┘
 *
 * Held by tests/unit/commands/test_series.c and tests/process/test_plot.sh.
 */
#ifndef HEARSAY_COMMANDS_PLOT_SERIES_H
#define HEARSAY_COMMANDS_PLOT_SERIES_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "plot/chart.h"

#define SERIES_MAX       CHART_CURVES_MAX
#define SERIES_VALUE_MAX 1e100 /* largest value, since axes compute differences and quotients */

enum series_by { BY_TIME, BY_SAMPLES, BY_BYTES };

struct series {
    char *name;         /* name of the curve; belongs to the set */
    double *x, *y;      /* [room] coordinates of the points; belong to the set */
    double *wall_s;     /* [room] time of each point, seconds since 1970; belongs to the set */
    size_t count, room; /* number of points, and capacity */
};

/* The request and the result. */
struct series_set {
    const char *what;  /* name of the y values: "loss", "accuracy", a field, a column */
    enum series_by by; /* unit of the x values */
    size_t files;      /* files to be read; with several, each curve's name has its file's label */
    struct series item[SERIES_MAX]; /* [count] */
    size_t count;                   /* number of series */
};

/* Adds the points of a file: one curve called label, or several with names from the file (after the
 * label if there are several files). MISSING: the file is missing, or has none of the requested
 * values. MALFORMED: it is none of the three kinds. TOO_BIG: too many curves. FAILED: it cannot be
 * read, or not a second time from its beginning. */
enum error series_read(struct series_set *set, const char *path, const char *label,
                       struct problem *problem) MUST_USE;

/* Returns the series of this name, added if it is new; NULL if there are SERIES_MAX others. */
struct series *series_of(struct series_set *set, const char *name);

/* Returns true if an axis can show the value: 0, or an absolute value from 1 / SERIES_VALUE_MAX to
 * SERIES_VALUE_MAX. */
bool series_may_be(double value);

/* Adds a point at at_s seconds of its file's time. Skips values that no axis can show. */
void series_add(struct series *series, double at_s, double x, double y);

void series_free(struct series_set *set);

#endif
