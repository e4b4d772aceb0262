/* hearsay manual: writes man pages in man(7) format from --help and the table of keys.
 *
 *   hearsay(1) · hearsay-COMMAND(1), one for each · hearsay-node.conf(5)
 *
 * The build makes them, and cmake --install puts them where man looks. Tests:
 * tests/process/test_help.sh: mandoc reports no mistake.
 */
#ifndef HEARSAY_COMMANDS_HELP_MANUAL_H
#define HEARSAY_COMMANDS_HELP_MANUAL_H

#include "commands/help/command.h"

/* Runs the command. argv[0] begins its messages. Exit codes: 0 printed, 1 a file cannot be written,
 * 2 wrong usage. */
int manual_run(const struct command_table *table, int argc, char **argv);

#endif
