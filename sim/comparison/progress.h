/* Progress of a comparison: a line for a person with the plays so far and an estimate of the rest.
 *
 *   finished plays, parts of running plays ─► progress_text
 *
 * The estimate assumes that the remaining plays take as long per virtual second as the earlier
 * ones. No function reads a clock: the caller passes the time. Tests:
 * tests/unit/sim/test_comparison.c.
 */
#ifndef HEARSAY_SIM_COMPARISON_PROGRESS_H
#define HEARSAY_SIM_COMPARISON_PROGRESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define PROGRESS_WHOLE 1000 /* value of `parts` for a whole play */
#define PROGRESS_BYTES 128

struct progress {
    uint32_t count; /* number of plays */
    uint32_t done;  /* number of plays that finished or failed */
    /* [count] played part of each running play, 0 to PROGRESS_WHOLE; 0 = not running. Workers
     * write it, so it is shared memory. */
    _Atomic uint32_t *parts;
    const char *word; /* "plays" or "trials" */
    double begin_s;
    double said_s;    /* time of the last line; begin_s = none yet */
    bool is_terminal; /* each line overwrites the previous line */
};

/* Writes a bar, the number of plays so far and the estimated time left. is_tenths: the number
 * includes the parts of running plays. */
void progress_text(const struct progress *progress, double now_s, bool is_tenths,
                   char text[static PROGRESS_BYTES]);

/* Returns true if a line is due. On a terminal, a line is due every second. Otherwise the first
 * line is due once an estimate is possible, at the latest after a minute, and each further line a
 * minute after the previous one. */
bool progress_is_due(const struct progress *progress, double now_s);

#endif
