/* A bar in characters. Tests: tests/unit/plot/test_dots.c. */
#ifndef HEARSAY_PLOT_BAR_H
#define HEARSAY_PLOT_BAR_H

#include <stdbool.h>
#include <stdio.h>

/* Prints `columns` characters, filled from the left. part: filled part, clamped to 0 .. 1. is_utf8:
 * false = ASCII only. */
void bar_print(FILE *out, double part, int columns, bool is_utf8);

#endif
