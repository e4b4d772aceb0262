/* The report of a scenario: tables for a terminal, and a folder of files.
 *
 *   outcome ─► report_print: facts, nodes, links, faults, verdicts
 *           └► report_write: DIR/summary.json  everything in the tables, and the settings
 *                            DIR/series.csv    a line for each virtual second
 *                            DIR/nodes.csv     a line for each node and virtual second
 *                            DIR/use.csv       a line for each link with a rate, busiest first
 *                            DIR/report.html   all of it in one self-contained file, with figures
 *
 * A figure whose data the outcome does not hold is left out. An interrupted play is reported as
 * far as it was played. Held by tests/unit/sim/test_report.c, tests/process/test_page.py.
 */
#ifndef HEARSAY_SIM_REPORT_REPORT_H
#define HEARSAY_SIM_REPORT_REPORT_H

#include <stdio.h>

#include "scenario/outcome.h"

/* Plays of the same scenario by other strategies, which share the figure of the play itself. */
#define REPORT_BESIDE_MAX 2
struct report_beside {
    struct scenario *scenarios; /* [count], which the outcomes point to */
    struct outcome outcomes[REPORT_BESIDE_MAX];
    uint32_t count;
};

/* Checks before the play that there can be a report, and makes DIR if it is not there (*made: it
 * was not). FAILED or TOO_BIG: DIR can be neither made nor written to. */
enum error report_ready(const char *dir, bool *made, struct problem *problem) MUST_USE;

/* Within 80 columns; and as summary.json has it. The outcome must have been judged. */
void report_print(FILE *out, const struct outcome *outcome);
void report_json(FILE *out, const struct outcome *outcome);

/* Makes DIR if it is not there, and overwrites the report of an earlier run. beside: NULL, or what
 * else was played. FAILED with a sentence: something cannot be written. */
enum error report_write(const char *dir, const struct outcome *outcome,
                        const struct report_beside *beside, struct problem *problem) MUST_USE;

#endif
