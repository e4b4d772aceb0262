/* The data of a configuration, as a node would learn them: counts, classes, numbers, the first
 * samples with what is to be predicted of them, and notes on what may be wrong. */
#ifndef HEARSAY_COMMANDS_DATA_DATA_SET_H
#define HEARSAY_COMMANDS_DATA_DATA_SET_H

#include <stdbool.h>
#include <stdio.h>

#include "config/config.h"

/* Shows `show` samples, at most DATA_SHOW_MAX. */
enum error data_set_report(FILE *out, const struct config *config, int samples, bool in_colour,
                           struct problem *problem) MUST_USE;

/* Prints them as one JSON object, without samples. */
enum error data_set_json(const struct config *config, struct problem *problem) MUST_USE;

#endif
