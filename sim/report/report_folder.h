/* The folder of a report and its files. Every failure is FAILED (or TOO_BIG) with a sentence that
 * names the file. */
#ifndef HEARSAY_SIM_REPORT_REPORT_FOLDER_H
#define HEARSAY_SIM_REPORT_REPORT_FOLDER_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "config/config.h"

#define REPORT_PATH_BYTES (CONFIG_PATH_BYTES + 64)

/* Creates the folder if it is missing (then *made = true), and checks that it is writable. */
enum error report_folder_make(const char *dir, bool *made, struct problem *problem) MUST_USE;

/* Locks the folder until this process and its children end, if its file system supports locks.
 * Returns MISMATCH if another process holds the lock. */
enum error report_folder_lock(const char *dir, struct problem *problem) MUST_USE;

/* Writes DIR/NAME with the function `write`. */
enum error report_folder_write(const char *dir, const char *name,
                               void (*write)(FILE *out, const void *context), const void *context,
                               struct problem *problem) MUST_USE;

/* Returns the content of DIR/NAME as a text that the caller frees, or NULL if it cannot be read. */
char *report_folder_read(const char *dir, const char *name, size_t *bytes);

#endif
