/* hearsay export: writes a saved model in the format of other libraries. Tests:
 * tests/process/test_text.sh. */
#ifndef HEARSAY_COMMANDS_EXPORT_COMMAND_H
#define HEARSAY_COMMANDS_EXPORT_COMMAND_H

#include "config/command.h"

extern const struct command export_command;

#endif
