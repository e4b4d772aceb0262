#include "commands/progress.h"

#include <math.h>
#include <unistd.h>

#include "base/amount.h"
#include "base/error.h"
#include "base/system_clock.h"
#include "plot/bar.h"

#define QUIET_S   2.0 /* seconds for which no line is shown, since the work may be short */
#define EVERY_S   0.2
#define BAR_MAX   30
#define TEXT_LEFT 32 /* columns for all text beside the bar: name, percentage, time left */
#define CLEAR     "\r\033[K"

void progress_begin(struct progress *progress, const char *what)
{
    *progress = (struct progress){.what = what,
                                  .out = stderr,
                                  .terminal = terminal_of(STDERR_FILENO),
                                  .begin_s = monotonic_s()};
}

static void draw(const struct progress *progress, double passed_s, double part)
{
    const int room = progress->terminal.columns - TEXT_LEFT - 2;
    const struct amount left = amount_span(passed_s / part - passed_s);
    (void)fprintf(progress->out, CLEAR "%s  ", progress->what);
    if (room > 0)
        bar_print(progress->out, part, room < BAR_MAX ? room : BAR_MAX, progress->terminal.is_utf8);
    (void)fprintf(progress->out, "  %.0f %%, %s left", 100 * part, left.text);
    (void)fflush(progress->out);
}

void progress_at_time(struct progress *progress, double at_s, double part)
{
    const double passed_s = at_s - progress->begin_s;
    CHECK(progress->what && !isnan(part));
    if (progress->terminal.rows == 0 || passed_s < QUIET_S || !(part > 0 && part <= 1) ||
        (progress->is_shown && at_s - progress->shown_s < EVERY_S))
        return;
    draw(progress, passed_s, part);
    progress->is_shown = true;
    progress->shown_s = at_s;
}

void progress_at(struct progress *progress, double part)
{
    progress_at_time(progress, monotonic_s(), part);
}

void progress_end(struct progress *progress)
{
    if (progress->is_shown) {
        (void)fputs(CLEAR, progress->out);
        (void)fflush(progress->out);
    }
    progress->is_shown = false;
}
