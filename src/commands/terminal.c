#include "commands/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static bool names_utf8(void)
{
    static const char *const NAMES[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        const char *value = getenv(NAMES[i]);
        if (value && value[0]) /* the first variable in this list that is set decides */
            return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
    }
    return false;
}

struct terminal terminal_of(int file)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    struct terminal terminal = {.is_utf8 = names_utf8()};
    struct winsize size = {0};
    if (!isatty(file) || !term || !term[0] || strcmp(term, "dumb") == 0)
        return terminal;
    (void)ioctl(file, TIOCGWINSZ, &size);
    terminal.rows = size.ws_row > 0 ? size.ws_row : TERMINAL_ROWS;
    terminal.columns = size.ws_col > 0 ? size.ws_col : TERMINAL_COLUMNS;
    terminal.has_color = !no_color || !no_color[0];
    return terminal;
}
