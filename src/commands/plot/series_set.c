#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "commands/plot/series.h"

struct series *series_of(struct series_set *set, const char *name)
{
    for (size_t i = 0; i < set->count; i++)
        if (strcmp(set->item[i].name, name) == 0)
            return &set->item[i];
    if (set->count == SERIES_MAX)
        return NULL;
    set->item[set->count] = (struct series){.name = memory_text(name)};
    return &set->item[set->count++];
}

bool series_may_be(double value)
{
    return fabs(value) <= SERIES_VALUE_MAX && (value == 0 || fabs(value) >= 1 / SERIES_VALUE_MAX);
}

void series_add(struct series *series, double at_s, double x, double y)
{
    if (!series_may_be(x) || !series_may_be(y))
        return;
    if (series->count == series->room) {
        series->room = series->room ? 2 * series->room : 256;
        series->x = memory_more(series->x, series->room, sizeof *series->x);
        series->y = memory_more(series->y, series->room, sizeof *series->y);
        series->wall_s = memory_more(series->wall_s, series->room, sizeof *series->wall_s);
    }
    series->wall_s[series->count] = isfinite(at_s) ? at_s : 0;
    series->x[series->count] = x;
    series->y[series->count++] = y;
}

void series_free(struct series_set *set)
{
    for (size_t i = 0; i < set->count; i++) {
        free(set->item[i].name);
        free(set->item[i].x);
        free(set->item[i].y);
        free(set->item[i].wall_s);
    }
    set->count = 0;
}
