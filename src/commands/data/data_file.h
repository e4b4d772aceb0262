/* Description of one data file: its type, statistics of its numbers, its first samples, and what is
 * wrong with it. */
#ifndef HEARSAY_COMMANDS_DATA_DATA_FILE_H
#define HEARSAY_COMMANDS_DATA_DATA_FILE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"

/* Prints what was found in the file, with its first `samples` samples (at most DATA_SHOW_MAX). If
 * the file has an error, prints what was found before it and returns the error. */
enum error data_file_report(FILE *out, const char *path, int samples, bool in_colour,
                            struct problem *problem) MUST_USE;

/* Sets *object to what was found in the file, as JSON; the caller frees it. Sets it even if an
 * error is returned. */
enum error data_file_json(json_t **object, const char *path, struct problem *problem) MUST_USE;

#endif
