/* A curve and a bar in characters.
 *
 *   values low .. 1 over time ─► dots, two beside four in each character ─► braille, or ASCII
 *
 * Held by tests/unit/commands/test_swarm_view.c.
 */
#ifndef HEARSAY_COMMANDS_SWARM_SWARM_PLOT_H
#define HEARSAY_COMMANDS_SWARM_SWARM_PLOT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define PLOT_ROWS_MAX    16
#define PLOT_COLUMNS_MAX 120

struct plot {
    int rows, columns; /* in characters */
    double low;        /* value at the bottom; 1 is at the top, what is beyond lies on the edge */
    bool is_utf8;      /* else ASCII */
    uint8_t cell[PLOT_ROWS_MAX][PLOT_COLUMNS_MAX]; /* dots, as the bits of U+2800 .. U+28FF */
};

/* A dotted horizontal line at a value. */
void plot_line(struct plot *plot, double value);

/* Values at points in time, ascending, joined by straight lines, the last one kept; the right
 * side is at end_s. */
void plot_curve(struct plot *plot, const double *at_s, const double *value, int points,
                double end_s);

/* One row, the uppermost is 0, without a newline. */
void plot_print_row(const struct plot *plot, FILE *out, int row);

/* A bar of so many columns, filled to a part of 0 .. 1 (what is beyond is cut). */
void plot_bar(FILE *out, double part, int columns, bool is_utf8);

#endif
