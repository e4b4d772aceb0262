/* Description of one data file: its type, statistics of its numbers, its first samples, and what is
 * wrong with it. */
#ifndef HEARSAY_COMMANDS_DATA_DATA_FILE_H
#define HEARSAY_COMMANDS_DATA_DATA_FILE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"

/* Prints the findings with the first `samples` samples, at most DATA_SHOW_MAX. Also prints all
 * findings on errors. */
enum error data_file_report(FILE *out, const char *path, int samples, bool in_colour,
                            struct problem *problem) MUST_USE;

/* Sets the findings as a JSON object, which belongs to the caller also on errors. */
enum error data_file_json(json_t **object, const char *path, struct problem *problem) MUST_USE;

#endif
