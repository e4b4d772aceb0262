/* The findings of a scenario: tables for a terminal, and a folder for everybody else.
 *
 *   outcome ─► report_print: verdict, one line per node, one line per link
 *           └► report_write: DIR/summary.json  everything in the tables, settings included
 *                            DIR/series.csv    one line per virtual second
 *                            DIR/nodes.csv     one line per node and virtual second
 *                            DIR/use.csv       one line per link with a limit, the busiest first
 *                            DIR/plot.gp       draws the plots from these: gnuplot plot.gp
 *                            DIR/NAME.png, NAME.svg  the plots, one each
 *                            DIR/report.html   all of it in one file that needs no other and no net
 *
 * The plots are drawn by gnuplot: once as PNG, once as SVG that goes into report.html. A plot of
 * what the outcome does not hold is left out. Held by tests/unit/sim/test_report.c,
 * tests/process/test_page.sh.
 */
#ifndef HEARSAY_SIM_REPORT_REPORT_H
#define HEARSAY_SIM_REPORT_REPORT_H

#include <stdio.h>

#include "scenario/outcome.h"

/* Checks before the play that there can be a report, and makes DIR if it is not there (*made: it
 * was not). MISSING: there is no gnuplot, and how to get it. FAILED or TOO_BIG: DIR can be neither
 * made nor written to. */
enum error report_ready(const char *dir, bool *made, struct problem *problem) MUST_USE;

/* Within 80 columns. Of an outcome that was judged. */
void report_print(FILE *out, const struct outcome *outcome);

/* Makes DIR if it is not there; overwrites what an earlier run left in it. FAILED, and a sentence,
 * when something cannot be written or drawn. */
enum error report_write(const char *dir, const struct outcome *outcome,
                        struct problem *problem) MUST_USE;

#endif
