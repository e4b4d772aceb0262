/* Progress of work that takes longer than two seconds, with an estimate of the time left: one line
 * on standard error that is overwritten, only if standard error is a terminal.
 *
 *   evaluating  ██████████████░░░░░░░░░░░░░░░░  46 %, 12 s left
 *
 * Tests: tests/unit/commands/test_progress.c.
 */
#ifndef HEARSAY_COMMANDS_PROGRESS_H
#define HEARSAY_COMMANDS_PROGRESS_H

#include <stdbool.h>
#include <stdio.h>

#include "commands/terminal.h"

struct progress {
    const char *what; /* name of the work, such as "evaluating" */
    FILE *out;
    struct terminal terminal; /* size of the terminal; no rows = nothing is shown */
    double begin_s, shown_s;  /* times of the start and of the last output */
    bool is_shown;            /* the terminal shows the line now */
};

/* Starts a progress line on standard error. */
void progress_begin(struct progress *progress, const char *what);

/* Reports the part of the work that is done, 0 .. 1. Cheap enough to be called after each batch. */
void progress_at(struct progress *progress, double part);

/* Removes the line from the terminal. */
void progress_end(struct progress *progress);

/* Does what progress_at does, with the time as an argument; for tests. */
void progress_at_time(struct progress *progress, double now_s, double part);

#endif
