/* The folder of a report, and its files. Every fault is FAILED (or
 * TOO_BIG) with a sentence that names the file. */
#ifndef HEARSAY_SIM_REPORT_REPORT_FOLDER_H
#define HEARSAY_SIM_REPORT_REPORT_FOLDER_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "config/config.h"

#define REPORT_PATH_BYTES (CONFIG_PATH_BYTES + 64)

/* Make it if it is not there (*made: it was not), and see that it can be written to. */
enum error report_folder_make(const char *dir, bool *made, struct problem *problem) MUST_USE;

/* It is ours alone until this process ends, and those that it has begun; where its file system has
 * locks. MISMATCH: it is another's. */
enum error report_folder_lock(const char *dir, struct problem *problem) MUST_USE;

/* DIR/NAME, written by `write`. */
enum error report_folder_write(const char *dir, const char *name,
                               void (*write)(FILE *out, const void *context), const void *context,
                               struct problem *problem) MUST_USE;

/* DIR/NAME as a text that the caller frees; NULL: it cannot be read. */
char *report_folder_read(const char *dir, const char *name, size_t *bytes);

#endif
