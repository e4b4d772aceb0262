/* A bar in characters. Held by tests/unit/plot/test_dots.c. */
#ifndef HEARSAY_PLOT_BAR_H
#define HEARSAY_PLOT_BAR_H

#include <stdbool.h>
#include <stdio.h>

/* Prints a bar of this many columns, filled to a part of 0 .. 1 (clamped); in ASCII without UTF-8.
 */
void bar_print(FILE *out, double part, int columns, bool is_utf8);

#endif
