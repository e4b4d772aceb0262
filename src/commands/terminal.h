/* The terminal that an output is: how large it is, and what it can show.
 *
 * NO_COLOR (no-color.org), if it is set and not empty, leaves colours out. Held by
 * tests/unit/commands/test_terminal.c and tests/process/test_plot.sh.
 */
#ifndef HEARSAY_COMMANDS_TERMINAL_H
#define HEARSAY_COMMANDS_TERMINAL_H

#include <stdbool.h>

#define TERMINAL_COLUMNS 80 /* where nothing is known */
#define TERMINAL_ROWS    24

struct terminal {
    int rows, columns; /* 0: none, or one on which nothing can be drawn over (TERM=dumb) */
    bool is_utf8;      /* output may contain more than ASCII, also in a file */
    bool has_color;    /* colours may be written */
};

/* Describes an open file; a terminal's size may change at any time. */
struct terminal terminal_of(int file);

#endif
