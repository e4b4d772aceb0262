/* hearsay predict: predictions of a saved model, or of a node, for samples in files. */
#ifndef HEARSAY_COMMANDS_PREDICT_H
#define HEARSAY_COMMANDS_PREDICT_H

#include "config/command.h"

extern const struct command predict_command;

#endif
