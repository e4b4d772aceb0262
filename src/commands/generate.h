/* hearsay generate: continues a text with a saved model. */
#ifndef HEARSAY_COMMANDS_GENERATE_H
#define HEARSAY_COMMANDS_GENERATE_H

#include "config/command.h"

extern const struct command generate_command;

#endif
