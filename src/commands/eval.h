/* hearsay eval: loss and accuracy of a saved model, in a state folder or in any safetensors file
 * that model.start takes. Tests: tests/process/test_from_model.sh and test_swarm.sh. */
#ifndef HEARSAY_COMMANDS_EVAL_H
#define HEARSAY_COMMANDS_EVAL_H

#include "config/command.h"

extern const struct command eval_command;

#endif
