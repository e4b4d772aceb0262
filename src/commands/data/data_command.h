/* hearsay data: describes data files, or the data of a configuration, and reports what is wrong
 * with them. */
#ifndef HEARSAY_COMMANDS_DATA_DATA_COMMAND_H
#define HEARSAY_COMMANDS_DATA_DATA_COMMAND_H

#include "config/command.h"

extern const struct command data_command;

#endif
