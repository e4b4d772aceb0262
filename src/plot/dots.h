/* Curves in characters of a terminal.
 *
 *   values over x ─► dots, two by four in each character ─► braille, or ASCII
 *
 * Tests: tests/unit/plot/test_dots.c.
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
    int rows, columns; /* size of the drawing in characters */
    /* x at the sides; points outside are not drawn */
    double left, right;
    /* values at the bottom and top; values outside are drawn at the edge */
    double low, high;
    bool is_utf8; /* false = only ASCII */
    /* [row][column] dots of each character: the bits of Unicode's U+2800 .. U+28FF */
    uint8_t cell[DOTS_ROWS_MAX][DOTS_COLUMNS_MAX];
};

/* Draws a dotted horizontal line at `value`. */
void dots_line(struct dots *dots, double value);

/* Draws straight lines between the points; x ascends. */
void dots_curve(struct dots *dots, const double *x, const double *y, size_t count);

/* Prints one character. Returns true if it has a dot. */
bool dots_print_cell(const struct dots *dots, FILE *out, int row, int column);

/* Prints no newline; row 0 is the top. */
void dots_print_row(const struct dots *dots, FILE *out, int row);

#endif
