/* One file: what it is, what its numbers are like, how its first samples look, and what is wrong
 * with it. */
#ifndef HEARSAY_COMMANDS_DATA_DATA_FILE_H
#define HEARSAY_COMMANDS_DATA_DATA_FILE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"

/* Shows `show` samples, at most DATA_SHOW_MAX. Prints all findings, also on errors. */
enum error data_file_report(FILE *out, const char *path, int samples, bool in_colour,
                            struct problem *problem) MUST_USE;

/* Sets the findings as a JSON object, which belongs to the caller also on errors. */
enum error data_file_json(json_t **object, const char *path, struct problem *problem) MUST_USE;

#endif
