#include "plot/timeline.h"

#include <math.h>

#include "base/error.h"

/* Keeps every second point, starting with the first. */
static void thin(struct timeline *timeline)
{
    for (size_t i = 0; i < TIMELINE_POINTS / 2; i++) {
        timeline->at_s[i] = timeline->at_s[2 * i];
        timeline->value[i] = timeline->value[2 * i];
    }
    timeline->count = TIMELINE_POINTS / 2;
}

void timeline_add(struct timeline *timeline, double at_s, double value)
{
    CHECK(timeline->count <= TIMELINE_POINTS);
    CHECK(timeline->count == 0 || at_s >= timeline->at_s[timeline->count - 1]);
    if (!isfinite(value))
        return;
    if (timeline->count == TIMELINE_POINTS)
        thin(timeline);
    timeline->at_s[timeline->count] = at_s;
    timeline->value[timeline->count++] = value;
}

size_t timeline_until(struct timeline *timeline, double now_s)
{
    const size_t count = timeline->count;
    if (count == 0)
        return 0;
    CHECK(now_s >= timeline->at_s[count - 1]);
    timeline->at_s[count] = now_s;
    timeline->value[count] = timeline->value[count - 1];
    return count + 1;
}
