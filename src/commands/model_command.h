/* hearsay model: prints a line of layers as a table, without training it. */
#ifndef HEARSAY_COMMANDS_MODEL_COMMAND_H
#define HEARSAY_COMMANDS_MODEL_COMMAND_H

#include "config/command.h"

extern const struct command model_command;

#endif
