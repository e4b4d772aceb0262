/* What the parts of the findings know of each other.
 *
 *   findings.c ─┬─► findings_table.c   outcome ─► tables       ─► terminal, page
 *    (folder)   ├─► findings_csv.c     outcome ─► series, nodes, use
 *               ├─► findings_json.c    outcome ─► summary
 *               ├─► findings_plot.c    outcome ─► plot.gp      ─► gnuplot.h
 *               └─► findings_page.c    tables, SVG ─► report.html
 *
 * The writers leave a failed write to whoever closes the file.
 */
#ifndef HEARSAY_FINDINGS_INSIDE_H
#define HEARSAY_FINDINGS_INSIDE_H

#include <stdio.h>

#include "scenario/outcome.h"
#include "report/table.h"

#define FINDINGS_ROWS_MAX                                                                          \
    24 /* more nodes: a group's median and extremes; more links: the busiest */
#define FINDINGS_PLOTS      8
#define FINDINGS_TEXT_BYTES 160

/* The figures of a node's moment, in the order of their columns in nodes.csv. */
enum figure { FIGURE_SPEED, FIGURE_SHARE, FIGURE_LAG, FIGURE_BEHIND, FIGURE_UP, FIGURE_DOWN };

/* NAN: not measured, or not kept. */
double findings_figure(const struct outcome *outcome, uint32_t moment, uint32_t node,
                       enum figure figure);
bool findings_has_figure(const struct outcome *outcome, enum figure figure);

/* The value that q of the finite ones do not exceed (nearest rank); NAN: there are none. Sorts. */
double findings_quantile(double *values, uint32_t count, double q);

const char *findings_strategy(const struct outcome *outcome); /* as a scenario writes it */
const struct moment *findings_last(const struct outcome *outcome);
bool findings_has_wires(const struct outcome *outcome);
bool findings_has_accuracy(const struct outcome *outcome);

/* "partition desk | box" */
void findings_fault_text(const struct scenario *scenario, const struct fault *fault,
                         char out[static FINDINGS_TEXT_BYTES]);
/* What is typed to repeat it. */
void findings_command(const struct outcome *outcome, char *out, size_t bytes);

void findings_facts(struct table *table, const struct outcome *outcome); /* name, value; no heads */
void findings_nodes(struct table *table, const struct outcome *outcome);
void findings_links(struct table *table, const struct outcome *outcome);
void findings_faults(struct table *table, const struct outcome *outcome);

void findings_series_csv(FILE *out, const struct outcome *outcome);
void findings_nodes_csv(FILE *out, const struct outcome *outcome);
void findings_use_csv(FILE *out, const struct outcome *outcome);
void findings_json(FILE *out, const struct outcome *outcome);

struct plot {
    const char *name; /* of its files, without ending */
    const char *title;
    const char *about; /* how to read it */
};
const struct plot *findings_plot(uint32_t i);
bool findings_plot_drawn(const struct outcome *outcome, uint32_t i);
void findings_script(FILE *out, const struct outcome *outcome);

/* drawings: SVG files as they are, NULL for what is not drawn. */
void findings_page(FILE *out, const struct outcome *outcome,
                   char *const drawings[static FINDINGS_PLOTS]);

#endif
