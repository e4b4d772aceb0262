/* Curves in characters of a terminal.
 *
 *   values over x ─► dots, two beside four in each character ─► braille, or ASCII
 *
 * Held by tests/unit/plot/test_dots.c.
 */
#ifndef HEARSAY_PLOT_DOTS_H
#define HEARSAY_PLOT_DOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define DOTS_ROWS_MAX    40
#define DOTS_COLUMNS_MAX 160

struct dots {
    int rows, columns;  /* size in characters */
    double left, right; /* x at the sides; points beyond are not drawn */
    double low, high;   /* values at bottom and top; points beyond lie on the edge */
    bool is_utf8;       /* UTF-8; false = ASCII */
    uint8_t cell[DOTS_ROWS_MAX][DOTS_COLUMNS_MAX]; /* bits of the characters U+2800 .. U+28FF */
};

/* Draws a dotted horizontal line at a value. */
void dots_line(struct dots *dots, double value);

/* Draws values at ascending x, joined by straight lines. */
void dots_curve(struct dots *dots, const double *x, const double *y, size_t count);

/* Prints the cell without its neighbours. Returns whether it has a dot. */
bool dots_print_cell(const struct dots *dots, FILE *out, int row, int column);

/* Prints a row without a newline; row 0 is the top. */
void dots_print_row(const struct dots *dots, FILE *out, int row);

#endif
