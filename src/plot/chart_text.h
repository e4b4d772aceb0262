/* A chart in characters, for a terminal.
 *
 *      0.6 │⠑⢄
 *          │  ⠑⠤⣀⡀
 *      0.2 │     ⠈⠉⠉⠒⠒⠒
 *          └───────────
 *           0       20    time, s
 *
 * Several curves have different colours, or letters if there are no colours. Tests:
 * tests/unit/plot/test_chart_text.c.
 */
#ifndef HEARSAY_PLOT_CHART_TEXT_H
#define HEARSAY_PLOT_CHART_TEXT_H

#include <stdio.h>

#include "plot/chart.h"

#define CHART_TEXT_COLUMNS_MIN 20
#define CHART_TEXT_ROWS_MIN    6

struct chart_text_style {
    /* Size in characters without title and legend, at least CHART_TEXT_ROWS_MIN and
     * CHART_TEXT_COLUMNS_MIN */
    int rows, columns;
    bool is_utf8;   /* false = only ASCII */
    bool has_color; /* ANSI (ECMA-48) colours may be printed */
};

void chart_text_write(FILE *out, const struct chart *chart, const struct chart_text_style *style);

#endif
