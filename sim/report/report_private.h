/* Private to the files of a report.
 *
 *   report.c ─┬─► report_table.c   outcome ─► tables       ─► terminal, page
 *   (folder)  ├─► report_csv.c     outcome ─► series, nodes, use
 *             ├─► report_json.c    outcome ─► summary
 *             └─► report_snapshot.c   outcome ─► snapshot ─► report.html (page/page.h)
 *
 * Write errors are detected when the file is closed.
 */
#ifndef HEARSAY_SIM_REPORT_REPORT_PRIVATE_H
#define HEARSAY_SIM_REPORT_REPORT_PRIVATE_H

#include <jansson.h>
#include <stdio.h>

#include "experiment/outcome.h"
#include "report/report.h"
#include "report/table.h"

/* With more nodes, the table of nodes has quantiles of each group. With more links, only the
 * busiest links have a row. */
#define REPORT_ROWS_MAX   24
#define REPORT_TEXT_BYTES 160

/* Quantities of a node at a moment, in the order of the columns of nodes.csv. */
enum figure { FIGURE_SPEED, FIGURE_SHARE, FIGURE_LAG, FIGURE_BEHIND, FIGURE_UP, FIGURE_DOWN };

/* Returns a node's quantity at a moment; NAN = not measured, or moments of nodes are not kept. */
double report_figure(const struct outcome *outcome, uint32_t moment, uint32_t node,
                     enum figure figure);
bool report_has_figure(const struct outcome *outcome, enum figure figure);

/* Returns the q-quantile (nearest rank) of the finite values; NAN = no value is finite. Changes the
 * array. */
double report_quantile(double *values, uint32_t count, double q);

/* Returns "met" or "NOT MET" for expectation i, or "open" if the play was interrupted. */
const char *report_verdict(const struct outcome *outcome, uint32_t i);
const struct moment *report_last(const struct outcome *outcome);
bool report_has_wires(const struct outcome *outcome);
bool report_has_accuracy(const struct outcome *outcome);

/* Writes a fault in a form such as "partition desk | box". */
void report_fault_text(const struct scenario *scenario, const struct fault *fault,
                       char out[static REPORT_TEXT_BYTES]);
/* Writes the command line that runs the scenario again with the same seed. */
void report_command(const struct outcome *outcome, char *out, size_t bytes);

/* Fills a table with facts about the play; columns: name, value. */
void report_facts(struct table *table, const struct outcome *outcome);
/* Calls `take` with the tables of nodes, links and faults, one by one. */
void report_tables(const struct outcome *outcome,
                   void (*take)(void *self, const struct table *table), void *self);

void report_series_csv(FILE *out, const struct outcome *outcome);
void report_nodes_csv(FILE *out, const struct outcome *outcome);
void report_use_csv(FILE *out, const struct outcome *outcome);

/* Returns the content of report.html; the caller calls json_decref. beside: NULL = no other plays.
 */
json_t *report_snapshot(const struct outcome *outcome, const struct report_beside *beside);

#endif
