/* A growing curve in bounded memory, from its first point to its last.
 *
 * Tests: tests/unit/plot/test_timeline.c.
 */
#ifndef HEARSAY_PLOT_TIMELINE_H
#define HEARSAY_PLOT_TIMELINE_H

#include <stddef.h>

#define TIMELINE_POINTS 512

struct timeline {
    /* ascending; timeline_until writes one more element */
    double at_s[TIMELINE_POINTS + 1];
    double value[TIMELINE_POINTS + 1];
    size_t count; /* at most TIMELINE_POINTS */
};

/* at_s must not be before the last point. If the array is full, drops every second point first.
 * Ignores a value that is NaN or infinite. */
void timeline_add(struct timeline *timeline, double at_s, double value);

/* Repeats the last value at time now_s, in the element after the points; `count` stays. Returns the
 * number of elements to draw: count + 1, or 0 without points. */
size_t timeline_until(struct timeline *timeline, double now_s);

#endif
