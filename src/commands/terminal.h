/* Size and abilities of the terminal behind an output. NO_COLOR (no-color.org), if set and not
 * empty, turns colours off. Tests: tests/unit/commands/test_terminal.c and
 * tests/process/test_plot.sh.
 */
#ifndef HEARSAY_COMMANDS_TERMINAL_H
#define HEARSAY_COMMANDS_TERMINAL_H

#include <stdbool.h>

#define TERMINAL_COLUMNS 80 /* columns assumed if the size is unknown */
#define TERMINAL_ROWS    24

struct terminal {
    int rows, columns; /* size; 0 = no terminal, or TERM is unset or dumb */
    bool is_utf8;      /* the output may contain UTF-8, even if it is a file */
    bool has_color;    /* the output may contain colours */
};

/* Describes the terminal behind an open file. Call it before each output, since the size may
 * change. */
struct terminal terminal_of(int file);

#endif
