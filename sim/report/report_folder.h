/* The folder of a report and its files. A failure's sentence names the folder or file. */
#ifndef HEARSAY_SIM_REPORT_REPORT_FOLDER_H
#define HEARSAY_SIM_REPORT_REPORT_FOLDER_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "config/config.h"

#define REPORT_PATH_BYTES (CONFIG_PATH_BYTES + 64)

/* Creates the folder, or sets *made to false if it exists. Returns FAILED if it cannot be created
 * or written, TOO_BIG if its name is too long. */
enum error report_folder_make(const char *dir, bool *made, struct problem *problem) MUST_USE;

/* Locks the folder until this process and its children end, if its file system supports locks.
 * Returns MISMATCH if another process has locked it. */
enum error report_folder_lock(const char *dir, struct problem *problem) MUST_USE;

/* Writes DIR/NAME. Returns FAILED if that fails. */
enum error report_folder_write(const char *dir, const char *name,
                               void (*write)(FILE *out, const void *context), const void *context,
                               struct problem *problem) MUST_USE;

/* Returns the content of DIR/NAME, which the caller frees; NULL = it cannot be opened. */
char *report_folder_read(const char *dir, const char *name, size_t *bytes);

#endif
