/* What the program can do: a table of commands (main.c), and what each says of itself. */
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

/* What it prints for --help, to be freed. */
char *command_help(const struct command *command);

#endif
