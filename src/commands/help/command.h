/* The program's commands: a table (main.c), with the help text of each. */
#ifndef HEARSAY_COMMANDS_HELP_COMMAND_H
#define HEARSAY_COMMANDS_HELP_COMMAND_H

#include <stddef.h>

#define COMMAND_TITLE_BYTES 32

struct command {
    const char *name;                  /* as it is typed */
    const char *summary;               /* what it is for, in some words */
    int (*run)(int argc, char **argv); /* argv[0] is "hearsay COMMAND", as messages begin */
};

struct command_table {
    const struct command *command; /* [count] */
    size_t count;
};

/* NULL: there is none of that name. */
const struct command *command_find(const struct command_table *table, const char *name);

/* Returns its --help text; the caller frees it. */
char *command_help(const struct command *command);

#endif
