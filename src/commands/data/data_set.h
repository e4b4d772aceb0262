/* Description of a configuration's data as a node would learn them: counts, classes, statistics,
 * the first samples with their targets, and notes on possible mistakes. */
#ifndef HEARSAY_COMMANDS_DATA_DATA_SET_H
#define HEARSAY_COMMANDS_DATA_DATA_SET_H

#include <stdbool.h>
#include <stdio.h>

#include "config/config.h"

/* Prints the description with the first `samples` samples, at most DATA_SHOW_MAX. */
enum error data_set_report(FILE *out, const struct config *config, int samples, bool in_colour,
                           struct problem *problem) MUST_USE;

/* Prints the description as one JSON object, without samples. */
enum error data_set_json(const struct config *config, struct problem *problem) MUST_USE;

#endif
