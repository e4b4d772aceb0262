/* Reads series of points from files: values over time, samples or bytes, for each curve.
 *
 *   a node's log, JSON lines (daemon/event_log.h)       ─┐
 *   CSV with a heading, such as a simulation's series    ├─► series_read ─► points, sorted by x
 *   a play of a comparison, one JSON object              ─┘
 *
 * Tests: tests/unit/commands/test_series.c and tests/process/test_plot.sh.
 */
#ifndef HEARSAY_COMMANDS_PLOT_SERIES_H
#define HEARSAY_COMMANDS_PLOT_SERIES_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "plot/chart.h"

#define SERIES_MAX CHART_CURVES_MAX
/* Largest absolute value, so that an axis can compute differences and quotients. */
#define SERIES_VALUE_MAX 1e100

enum series_by { BY_TIME, BY_SAMPLES, BY_BYTES };

struct series {
    char *name;    /* name of the curve; freed with the set */
    double *x, *y; /* [room] coordinates of the points; freed with the set */
    /* [room] wall-clock time of each point, in seconds since 1970 once series_read has returned;
     * freed with the set. */
    double *wall_s;
    size_t count, room;
};

/* The requested values, and the series read so far. */
struct series_set {
    /* Name of the y values: "loss", "accuracy", or a field or column of the file. */
    const char *what;
    enum series_by by; /* unit of the x values */
    /* Number of files; with several, each curve's name begins with its file's label. */
    size_t files;
    struct series item[SERIES_MAX]; /* [count] */
    size_t count;
};

/* Adds the points of a file to the set: one curve called `label`, or several curves with names from
 * the file. Returns MISSING if the file does not exist or lacks the requested values, MALFORMED for
 * an unknown kind of file, TOO_BIG for more than SERIES_MAX curves, and FAILED if the file cannot
 * be read, or cannot be read twice (a pipe). */
enum error series_read(struct series_set *set, const char *path, const char *label,
                       struct problem *problem) MUST_USE;

/* Returns the series of this name. Adds it if it is new; returns NULL if the set is full. */
struct series *series_of(struct series_set *set, const char *name);

/* Returns true if an axis can show the value: 0, or an absolute value from 1 / SERIES_VALUE_MAX to
 * SERIES_VALUE_MAX. */
bool series_may_be(double value);

/* Adds a point that was written at_s seconds after the start of the file's run. Skips a point if no
 * axis can show its x or y. */
void series_add(struct series *series, double at_s, double x, double y);

void series_free(struct series_set *set);

#endif
