/* A growing curve in bounded memory: it always covers the whole time.
 *
 * Held by tests/unit/plot/test_timeline.c.
 */
#ifndef HEARSAY_PLOT_TIMELINE_H
#define HEARSAY_PLOT_TIMELINE_H

#include <stddef.h>

#define TIMELINE_POINTS 512

struct timeline {
    double at_s[TIMELINE_POINTS + 1];  /* times of the points, ascending */
    double value[TIMELINE_POINTS + 1]; /* value at that time */
    size_t count;                      /* number of points, at most TIMELINE_POINTS */
};

/* Adds a point that is not before the last one. When the array is full, every second point goes
 * first. Skips values that are not finite. */
void timeline_add(struct timeline *timeline, double at_s, double value);

/* Returns the number of points after extending the last value to now_s; 0 = no point. */
size_t timeline_until(struct timeline *timeline, double now_s);

#endif
