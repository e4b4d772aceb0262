/* hearsay model: prints a model's layers as a table, and can measure their times. */
#ifndef HEARSAY_COMMANDS_MODEL_COMMAND_H
#define HEARSAY_COMMANDS_MODEL_COMMAND_H

#include "config/command.h"

extern const struct command model_command;

#endif
