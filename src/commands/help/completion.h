/* hearsay completion: what a shell completes a command line with.
 *
 *   shell: words typed so far ─► completion_answer ─► a line for each word that may come next
 *
 * The shell's part is a function that asks the program itself, which reads its commands' help and
 * the table of keys: what it completes is what that program takes. Held by
 * tests/unit/commands/test_completion.c and tests/process/test_shells.sh.
 */
#ifndef HEARSAY_COMMANDS_HELP_COMPLETION_H
#define HEARSAY_COMMANDS_HELP_COMPLETION_H

#include <stdio.h>

#include "commands/help/command.h"

/* The words after "hearsay", the last of them incomplete (or empty). A line for each candidate: the
 * whole word, a tab, what it is. Or ":files", a tab, and the beginning of the word that is not part
 * of the name of a file. */
void completion_answer(FILE *out, const struct command_table *table, int count,
                       const char *const *words);

/* argv[0] begins its messages. Exit codes: 0 printed, 2 wrong usage. */
int completion_run(const struct command_table *table, int argc, char **argv);

#endif
