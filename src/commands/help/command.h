/* The program's commands: a table (main.c), with the help text of each. */
#ifndef HEARSAY_COMMANDS_HELP_COMMAND_H
#define HEARSAY_COMMANDS_HELP_COMMAND_H

#include <stddef.h>

#define COMMAND_TITLE_BYTES 32

struct command {
    const char *name;    /* name as it is typed */
    const char *summary; /* purpose in a few words */
    /* Runs the command. argv[0] is "hearsay COMMAND", the beginning of its error messages. */
    int (*run)(int argc, char **argv);
};

struct command_table {
    const struct command *command; /* [count] the commands */
    size_t count;
};

/* Returns the command with this name; NULL if there is none. */
const struct command *command_find(const struct command_table *table, const char *name);

/* Returns the command's --help text; the caller frees it. */
char *command_help(const struct command *command);

#endif
