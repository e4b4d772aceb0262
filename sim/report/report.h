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

#include "scenario/outcome.h"

/* Maximum number of plays with other strategies in the main figure, beside the play of the
 * scenario. */
#define REPORT_BESIDE_MAX 2
struct report_beside {
    struct scenario *scenarios; /* [count] scenario of each outcome */
    struct outcome outcomes[REPORT_BESIDE_MAX];
    uint32_t count;
};

/* Checks before the play that a report can be written. Creates DIR if it is missing, and then
 * sets *made to true. Returns FAILED or TOO_BIG if DIR can be neither created nor written. */
enum error report_ready(const char *dir, bool *made, struct problem *problem) MUST_USE;

/* Write the report for a terminal of 80 columns, or as summary.json. The expectations must have
 * been judged before. */
void report_print(FILE *out, const struct outcome *outcome);
void report_json(FILE *out, const struct outcome *outcome);

/* Writes the report's files. Creates DIR if it is missing, and overwrites an earlier report.
 * beside: plays with other strategies; NULL = none. Returns FAILED with a sentence if a file cannot
 * be written. */
enum error report_write(const char *dir, const struct outcome *outcome,
                        const struct report_beside *beside, struct problem *problem) MUST_USE;

#endif
