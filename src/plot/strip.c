#include "plot/strip.h"

#include <math.h>

#include "base/error.h"
#include "plot/ticks.h"

void strip_within(struct strip *strip, struct timeline *timeline, double now_s, int rows,
                  int columns)
{
    CHECK(rows > 0 && rows <= DOTS_ROWS_MAX && columns > STRIP_MARGIN);
    const int width = columns - STRIP_MARGIN;
    strip->dots.rows = rows;
    strip->dots.columns = width < DOTS_COLUMNS_MAX ? width : DOTS_COLUMNS_MAX;
    strip->dots.left = timeline->count > 0 ? timeline->at_s[0] : 0;
    strip->dots.right = fmax(now_s, strip->dots.left + 1);
    const size_t count = timeline_until(timeline, now_s);
    dots_curve(&strip->dots, timeline->at_s, timeline->value, count);
}

void strip_of(struct strip *strip, struct timeline *timeline, double now_s, int rows, int columns,
              bool is_utf8)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < timeline->count; i++) {
        low = fmin(low, timeline->value[i]);
        high = fmax(high, timeline->value[i]);
    }
    *strip = (struct strip){.dots = {.low = 0, .high = 1, .is_utf8 = is_utf8}};
    if (low <= high) {
        char text[TICKS_TEXT_BYTES];
        const struct ticks ticks = ticks_around(low, high, 3);
        strip->dots.low = ticks.first;
        strip->dots.high = ticks_last(&ticks);
        (void)snprintf(strip->bottom, sizeof strip->bottom, "%.7s", ticks_text(&ticks, 0, text));
        (void)snprintf(strip->top, sizeof strip->top, "%.7s",
                       ticks_text(&ticks, ticks.count - 1, text));
    }
    strip_within(strip, timeline, now_s, rows, columns);
}

void strip_print_row(const struct strip *strip, FILE *out, int row, const char *colour)
{
    const char *side = row == 0 ? strip->top : row == strip->dots.rows - 1 ? strip->bottom : "";
    (void)fprintf(out, "%*s %s%s", STRIP_MARGIN - 2, side, strip->dots.is_utf8 ? "│" : "|", colour);
    dots_print_row(&strip->dots, out, row);
}
