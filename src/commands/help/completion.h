/* hearsay completion: completes command lines in a shell.
 *
 *   shell: words typed so far ─► completion_answer ─► a line for each word that may come next
 *
 * The shell's function runs the program to get the candidates. They come from the commands'
 * tables and the table of keys, so they always match that version of the program. Tests:
 * tests/unit/commands/test_completion.c and tests/process/test_shells.sh.
 */
#ifndef HEARSAY_COMMANDS_HELP_COMPLETION_H
#define HEARSAY_COMMANDS_HELP_COMPLETION_H

#include <stdio.h>

#include "config/command.h"

/* Prints the completions of the words after "hearsay"; the last word is incomplete or empty. Each
 * candidate is a line: the whole word, a tab, its description. If the shell must complete a file
 * name, prints one line: ":files", a tab, and the text in front of the file name. */
void completion_answer(FILE *out, const struct command_table *table, int count,
                       const char *const *words);

extern const struct command completion_command;

#endif
