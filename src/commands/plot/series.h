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
#define SERIES_VALUE_MAX 1e100 /* axes compute with differences and quotients of values */

enum series_by { BY_TIME, BY_SAMPLES, BY_BYTES };

struct series {
    char *name;         /* of the curve; the set's */
    double *x, *y;      /* [room] the set's */
    double *wall_s;     /* [room] when each point was, seconds since 1970; the set's */
    size_t count, room; /* points that are there, and that there is room for */
};

/* The request and the result. */
struct series_set {
    const char *what;  /* name of what goes up: "loss", "accuracy", a field, a column */
    enum series_by by; /* what goes to the right */
    size_t files;      /* to be read: of several, each curve says whose it is */
    struct series item[SERIES_MAX]; /* [count] */
    size_t count;                   /* of series */
};

/* Adds what a file holds, as one curve called label, or as several whose names it says itself
 * (where there are several files, after the label). MISSING: the file is not there, or holds
 * nothing of what is asked for; MALFORMED: it is none of the three; TOO_BIG: too many curves;
 * FAILED: it cannot be read, or not from its beginning once more. */
enum error series_read(struct series_set *set, const char *path, const char *label,
                       struct problem *problem) MUST_USE;

/* The series of this name, made where it is missing; NULL: there are SERIES_MAX others. */
struct series *series_of(struct series_set *set, const char *name);

/* A number that an axis can have: 0, or at most SERIES_VALUE_MAX and at least 1 / that. */
bool series_may_be(double value);

/* Adds a point at at_s seconds of its file's time. Skips values that no axis can show. */
void series_add(struct series *series, double at_s, double x, double y);

void series_free(struct series_set *set);

#endif
