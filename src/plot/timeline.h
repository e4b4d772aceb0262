/* A curve that grows while somebody watches: however long, it stays whole, in bounded memory.
 *
 * Held by tests/unit/plot/test_timeline.c.
 */
#ifndef HEARSAY_PLOT_TIMELINE_H
#define HEARSAY_PLOT_TIMELINE_H

#include <stddef.h>

#define TIMELINE_POINTS 512

struct timeline {
    double at_s[TIMELINE_POINTS + 1];  /* ascending */
    double value[TIMELINE_POINTS + 1]; /* at that time */
    size_t count;                      /* of points, at most TIMELINE_POINTS */
};

/* Not before the last point. When all places are taken, every second point goes first. A value that
 * is not finite is left out. */
void timeline_add(struct timeline *timeline, double at_s, double value);

/* So many points, of which the last is the last value at that later time: what was true stays so
 * until something else is known. 0: there is no point. */
size_t timeline_until(struct timeline *timeline, double now_s);

#endif
