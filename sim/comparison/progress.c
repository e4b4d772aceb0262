#include "comparison/progress.h"

#include <stdio.h>

#include "base/amount.h"

#define BAR_WIDTH       24
#define FIRST_S         5 /* seconds until the first estimate, unless a play finishes earlier */
#define EACH_S          60
#define EACH_TERMINAL_S 1

static double plays_so_far(const struct progress *progress)
{
    double plays = progress->done;
    for (uint32_t i = 0; i < progress->count; i++)
        plays += (double)atomic_load(&progress->parts[i]) / PROGRESS_WHOLE;
    return plays;
}

void progress_text(const struct progress *progress, double now_s, bool is_tenths,
                   char text[static PROGRESS_BYTES])
{
    char bar[BAR_WIDTH + 1] = "", left[AMOUNT_BYTES + 16] = "";
    const double plays = plays_so_far(progress), used_s = now_s - progress->begin_s;
    const double part = plays / progress->count;
    for (int i = 0; i < BAR_WIDTH; i++)
        bar[i] = i < part * BAR_WIDTH ? '#' : '.';
    if (part > 0 && (progress->done > 0 || used_s >= FIRST_S))
        (void)snprintf(left, sizeof left, ", about %s left",
                       amount_span(used_s / part - used_s).text);
    (void)snprintf(text, PROGRESS_BYTES, "[%s] %.*f of %u %s%s", bar, is_tenths ? 1 : 0,
                   is_tenths ? plays : progress->done, progress->count, progress->word, left);
}

bool progress_is_due(const struct progress *progress, double now_s)
{
    const double since_s = now_s - progress->said_s;
    if (progress->is_terminal)
        return since_s >= EACH_TERMINAL_S;
    const bool is_first = progress->said_s == progress->begin_s;
    return since_s >= EACH_S || (is_first && since_s >= FIRST_S && plays_so_far(progress) > 0);
}
