/* The report of a scenario: tables for a terminal, and a folder of files.
 *
 *   outcome ─► report_print: facts, nodes, links, faults, verdicts
 *           └► report_write: DIR/summary.json  content of all tables, and the settings
 *                            DIR/series.csv    a line for each virtual second
 *                            DIR/nodes.csv     a line for each node and virtual second
 *                            DIR/use.csv       a line for each limited link, busiest first
 *                            DIR/report.html   all of it in one self-contained file, with figures
 *
 * Figures without data are left out. An interrupted play is reported as far as it was played.
 * Tests: tests/unit/sim/test_report.c, tests/process/test_page.py.
 */
#ifndef HEARSAY_SIM_REPORT_REPORT_H
#define HEARSAY_SIM_REPORT_REPORT_H

#include <stdio.h>

#include "experiment/outcome.h"

#define REPORT_BESIDE_MAX 2
/* Plays with other strategies, which the main figures show for comparison. */
struct report_beside {
    struct scenario *scenarios; /* [count] scenario of each outcome */
    struct outcome outcomes[REPORT_BESIDE_MAX];
    uint32_t count;
};

/* Checks before the play that a report can be written: creates DIR, or sets *made to false if it
 * exists. Returns FAILED if DIR cannot be created or written, TOO_BIG if its name is too long. */
enum error report_ready(const char *dir, bool *made, struct problem *problem) MUST_USE;

/* Write the report for a terminal, or as summary.json. Call them after the verdicts are known. */
void report_print(FILE *out, const struct outcome *outcome);
void report_json(FILE *out, const struct outcome *outcome);

/* Creates DIR if it is missing, and overwrites an earlier report. beside: NULL = no other plays.
 * Returns FAILED if a file cannot be written. */
enum error report_write(const char *dir, const struct outcome *outcome,
                        const struct report_beside *beside, struct problem *problem) MUST_USE;

#endif
