/* The exit codes: what they mean for all commands, and what each says of its own in its help.
 *
 * Held by tests/process/test_help.sh, which has commands end with each of them.
 */
#ifndef HEARSAY_COMMANDS_HELP_EXIT_CODES_H
#define HEARSAY_COMMANDS_HELP_EXIT_CODES_H

#include <stdio.h>

#include "commands/help/command.h"

/* hearsay help exit-codes */
#define EXIT_CODES_TOPIC "exit-codes"
void exit_codes_print(FILE *out, const struct command_table *table);

struct exit_code {
    const char *code;    /* "0", "128 + N" */
    const char *meaning; /* of all commands that end with it */
};

/* The i-th of them; NULL: there are no more. */
const struct exit_code *exit_code_at(size_t i);

#endif
