/* A chart as SVG 1.1: one self-contained picture without scripts, for pages and documents.
 *
 *   title
 *   legend, in as many rows as it takes
 *   frame with a grid at round numbers; curves of at most 708 points each
 *
 * Tests: tests/unit/plot/test_chart_svg.c and tests/process/test_plot.sh.
 */
#ifndef HEARSAY_PLOT_CHART_SVG_H
#define HEARSAY_PLOT_CHART_SVG_H

#include <stdio.h>

#include "plot/chart.h"

/* Names may hold any bytes: those that XML forbids become question marks. */
void chart_svg_write(FILE *out, const struct chart *chart);

#endif
