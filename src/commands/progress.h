/* How far something is that takes longer than two seconds, and for how long it will go on: one line
 * that is written over, on standard error, and only where that is a terminal.
 *
 *   evaluating  ██████████████░░░░░░░░░░░░░░░░  46 %, 12 s left
 *
 * Held by tests/unit/commands/test_progress.c.
 */
#ifndef HEARSAY_COMMANDS_PROGRESS_H
#define HEARSAY_COMMANDS_PROGRESS_H

#include <stdbool.h>
#include <stdio.h>

#include "commands/terminal.h"

struct progress {
    const char *what;         /* is done: "evaluating" */
    FILE *out;                /* the terminal */
    struct terminal terminal; /* no rows: nothing is shown */
    double begin_s, shown_s;  /* when it began, and when it was shown last */
    bool is_shown;            /* a line stands there */
};

/* On standard error. */
void progress_begin(struct progress *progress, const char *what);

/* A part of 0 .. 1 is done. Cheap enough to be called for each batch. */
void progress_at(struct progress *progress, double part);

/* Nothing stays on the terminal. */
void progress_end(struct progress *progress);

/* The same at a given time, for its test. */
void progress_at_time(struct progress *progress, double now_s, double part);

#endif
