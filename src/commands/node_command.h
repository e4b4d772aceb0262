/* hearsay node: reads the options and runs a node (daemon/daemon.h). */
#ifndef HEARSAY_COMMANDS_NODE_COMMAND_H
#define HEARSAY_COMMANDS_NODE_COMMAND_H

#include "config/command.h"

extern const struct command node_command;

#endif
