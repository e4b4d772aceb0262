/* What the parts of the findings know of each other.
 *
 *   findings.c ─┬─► report_table.c   outcome ─► tables       ─► terminal, page
 *    (folder)   ├─► report_csv.c     outcome ─► series, nodes, use
 *               ├─► report_json.c    outcome ─► summary
 *               ├─► report_plot.c    outcome ─► plot.gp      ─► gnuplot.h
 *               └─► report_page.c    tables, SVG ─► report.html
 *
 * The writers leave a failed write to whoever closes the file.
 */
#ifndef HEARSAY_SIM_REPORT_REPORT_PRIVATE_H
#define HEARSAY_SIM_REPORT_REPORT_PRIVATE_H

#include <stdio.h>

#include "scenario/outcome.h"
#include "report/table.h"

#define REPORT_ROWS_MAX                                                                          \
    24 /* more nodes: a group's median and extremes; more links: the busiest */
#define REPORT_PLOTS      8
#define REPORT_TEXT_BYTES 160

/* The figures of a node's moment, in the order of their columns in nodes.csv. */
enum figure { FIGURE_SPEED, FIGURE_SHARE, FIGURE_LAG, FIGURE_BEHIND, FIGURE_UP, FIGURE_DOWN };

/* NAN: not measured, or not kept. */
double report_figure(const struct outcome *outcome, uint32_t moment, uint32_t node,
                     enum figure figure);
bool report_has_figure(const struct outcome *outcome, enum figure figure);

/* The value that q of the finite ones do not exceed (nearest rank); NAN: there are none. Sorts. */
double report_quantile(double *values, uint32_t count, double q);

const char *report_strategy(const struct outcome *outcome); /* as a scenario writes it */
/* "met", "NOT MET", or "open": it was interrupted. */
const char *report_verdict(const struct outcome *outcome, uint32_t i);
const struct moment *report_last(const struct outcome *outcome);
bool report_has_wires(const struct outcome *outcome);
bool report_has_accuracy(const struct outcome *outcome);

/* "partition desk | box" */
void report_fault_text(const struct scenario *scenario, const struct fault *fault,
                       char out[static REPORT_TEXT_BYTES]);
/* What is typed to repeat it. */
void report_command(const struct outcome *outcome, char *out, size_t bytes);

void report_facts(struct table *table, const struct outcome *outcome); /* name, value; no heads */
void report_nodes(struct table *table, const struct outcome *outcome);
void report_links(struct table *table, const struct outcome *outcome);
void report_faults(struct table *table, const struct outcome *outcome);

void report_series_csv(FILE *out, const struct outcome *outcome);
void report_nodes_csv(FILE *out, const struct outcome *outcome);
void report_use_csv(FILE *out, const struct outcome *outcome);
void report_json(FILE *out, const struct outcome *outcome);

struct plot {
    const char *name; /* of its files, without ending */
    const char *title;
    const char *about; /* how to read it */
};
const struct plot *report_plot(uint32_t i);
bool report_plot_drawn(const struct outcome *outcome, uint32_t i);
void report_script(FILE *out, const struct outcome *outcome);

/* drawings: SVG files as they are, NULL for what is not drawn. */
void report_page(FILE *out, const struct outcome *outcome,
                 char *const drawings[static REPORT_PLOTS]);

#endif
