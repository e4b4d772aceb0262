/* A bar in characters. Held by tests/unit/plot/test_dots.c. */
#ifndef HEARSAY_PLOT_BAR_H
#define HEARSAY_PLOT_BAR_H

#include <stdbool.h>
#include <stdio.h>

/* So many columns, filled to a part of 0 .. 1 (what is beyond is cut); without UTF-8 in ASCII. */
void bar_print(FILE *out, double part, int columns, bool is_utf8);

#endif
