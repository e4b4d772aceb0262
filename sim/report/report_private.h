/* Shared by the files of a report, and private to them.
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

#include "report/report.h"
#include "report/table.h"
#include "scenario/outcome.h"

/* Maximum number of rows of a table. With more nodes, the table has quantiles of each group
 * instead. With more links, it has only the busiest ones. */
#define REPORT_ROWS_MAX   24
#define REPORT_TEXT_BYTES 160

/* Quantities of a node at a moment, in the order of the columns of nodes.csv. */
enum figure { FIGURE_SPEED, FIGURE_SHARE, FIGURE_LAG, FIGURE_BEHIND, FIGURE_UP, FIGURE_DOWN };

/* report_figure returns the value of a node's quantity at a moment; NAN = not measured, or not
 * kept. report_has_figure returns true if any node has a value of the quantity at any moment. */
double report_figure(const struct outcome *outcome, uint32_t moment, uint32_t node,
                     enum figure figure);
bool report_has_figure(const struct outcome *outcome, enum figure figure);

/* Returns the q-quantile (nearest rank) of the finite values, or NAN if there are none. Reorders
 * the array. */
double report_quantile(double *values, uint32_t count, double q);

/* Returns the verdict on expectation i: "met", "NOT MET", or "open" if the play was interrupted. */
const char *report_verdict(const struct outcome *outcome, uint32_t i);
const struct moment *report_last(const struct outcome *outcome);
bool report_has_wires(const struct outcome *outcome);
bool report_has_accuracy(const struct outcome *outcome);

/* Writes a fault in a form such as "partition desk | box". */
void report_fault_text(const struct scenario *scenario, const struct fault *fault,
                       char out[static REPORT_TEXT_BYTES]);
/* Writes the command line that runs the scenario again with the same seed. */
void report_command(const struct outcome *outcome, char *out, size_t bytes);

/* Fills a table with facts about the play. Its columns are name and value. */
void report_facts(struct table *table, const struct outcome *outcome);
/* Calls `take` with each of the tables of nodes, links and faults. */
void report_tables(const struct outcome *outcome,
                   void (*take)(void *self, const struct table *table), void *self);

void report_series_csv(FILE *out, const struct outcome *outcome);
void report_nodes_csv(FILE *out, const struct outcome *outcome);
void report_use_csv(FILE *out, const struct outcome *outcome);

/* Returns the content of the page, which the caller releases. beside: plays with other strategies;
 * NULL = none. */
json_t *report_snapshot(const struct outcome *outcome, const struct report_beside *beside);

#endif
