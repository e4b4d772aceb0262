/* The three kinds of files that series are read from (series.h), and their common functions. */
#ifndef HEARSAY_COMMANDS_PLOT_SERIES_FILE_H
#define HEARSAY_COMMANDS_PLOT_SERIES_FILE_H

#include "commands/plot/series.h"

/* The readers of each kind. path and label: as in series_read. */
enum error series_read_log(struct series_set *set, FILE *file, const char *path, const char *label,
                           struct problem *problem) MUST_USE;
enum error series_read_csv(struct series_set *set, FILE *file, const char *path, const char *label,
                           struct problem *problem) MUST_USE;
enum error series_read_play(struct series_set *set, FILE *file, const char *path, const char *label,
                            struct problem *problem) MUST_USE;

/* Returns the size of the file in bytes; 0 = unknown. */
double series_file_bytes(FILE *file);

/* Returns true if a field or column has the requested name; "-" and "_" are equal. */
bool series_is_name(const char *asked, const char *name);

/* Names of available values, for the sentence about a missing one. */
struct series_names {
    char text[384]; /* list of names: "a, b, c" */
};
void series_names_add(struct series_names *names, const char *name);

/* Returns MISSING with a sentence: the file lacks the requested name but has these. */
enum error series_lacks(const struct series_set *set, const char *path,
                        const struct series_names *names, struct problem *problem) MUST_USE;

enum error series_too_many(struct problem *problem) MUST_USE;

#endif
