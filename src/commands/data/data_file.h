/* Description of one data file: its type, statistics of its numbers, its first samples, and what is
 * wrong with it. */
#ifndef HEARSAY_COMMANDS_DATA_DATA_FILE_H
#define HEARSAY_COMMANDS_DATA_DATA_FILE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"

/* Prints the findings and the first `samples` samples, at most DATA_SHOW_MAX. Prints them even if
 * the file has an error. */
enum error data_file_report(FILE *out, const char *path, int samples, bool in_colour,
                            struct problem *problem) MUST_USE;

/* Sets *object to the findings as JSON, which the caller frees, even if the file has an error. */
enum error data_file_json(json_t **object, const char *path, struct problem *problem) MUST_USE;

#endif
