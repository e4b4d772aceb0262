/* The exit codes and their common meaning; each command's help has its own details. Tests:
 * tests/process/test_help.sh, in which commands end with each of these codes. */
#ifndef HEARSAY_COMMANDS_HELP_EXIT_CODES_H
#define HEARSAY_COMMANDS_HELP_EXIT_CODES_H

#include <stdio.h>

#include "config/command.h"

/* Topic of `hearsay help` that prints the exit codes. */
#define EXIT_CODES_TOPIC "exit-codes"
void exit_codes_print(FILE *out, const struct command_table *table);

struct exit_code {
    const char *code; /* such as "0" or "128 + N" */
    const char *meaning;
};

/* Returns entry i of the list; NULL after the last one. */
const struct exit_code *exit_code_at(size_t i);

#endif
