/* Writes an outcome to the files of a temporary folder, or as text for a terminal. */
#ifndef HEARSAY_TESTS_SUPPORT_SIM_REPORT_FOLDER_H
#define HEARSAY_TESTS_SUPPORT_SIM_REPORT_FOLDER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <unistd.h>

#include "report/escape.h"
#include "report/report.h"
#include "support/sim/sample_outcome.h"

extern char folder[];
extern char path[512];
extern struct outcome outcome;
extern struct problem problem;

const char *in_folder(const char *name);
int make_folder(void **state);
int remove_folder(void **state);

/* Returns the file's text, valid until the next call. */
const char *text_of(const char *name);
bool exists(const char *name);
void assert_holds(const char *text, const char *wanted);
void assert_lacks(const char *text, const char *unwanted);
void write_folder(void);
const char *printed(void);

/* Checks that no line is wider than 80 columns. */
void assert_fits_a_terminal(const char *text);

#endif
