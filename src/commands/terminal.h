/* Size and abilities of the terminal behind an output. NO_COLOR (no-color.org), if set and not
 * empty, turns colours off. Held by tests/unit/commands/test_terminal.c and
 * tests/process/test_plot.sh.
 */
#ifndef HEARSAY_COMMANDS_TERMINAL_H
#define HEARSAY_COMMANDS_TERMINAL_H

#include <stdbool.h>

#define TERMINAL_COLUMNS 80 /* columns if the size is unknown */
#define TERMINAL_ROWS    24

struct terminal {
    int rows, columns; /* size; 0 = no terminal, or one without cursor movement (TERM=dumb) */
    bool is_utf8;      /* output may contain more than ASCII, also in a file */
    bool has_color;    /* colours may be written */
};

/* Describes an open file; a terminal's size may change at any time. */
struct terminal terminal_of(int file);

#endif
