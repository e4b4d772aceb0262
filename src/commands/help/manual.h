/* hearsay manual: writes man pages in man(7) format from the tables of commands and keys.
 *
 *   hearsay(1) · hearsay-COMMAND(1), one for each · hearsay-node.conf(5)
 *
 * The build makes them, and cmake --install puts them where man looks. Tests:
 * tests/process/test_help.sh: mandoc reports no mistake.
 */
#ifndef HEARSAY_COMMANDS_HELP_MANUAL_H
#define HEARSAY_COMMANDS_HELP_MANUAL_H

#include "config/command.h"

extern const struct command manual_command;

#endif
