/* The three kinds of files that series are read from (series.h), and what they have in common. */
#ifndef HEARSAY_COMMANDS_PLOT_SERIES_FILE_H
#define HEARSAY_COMMANDS_PLOT_SERIES_FILE_H

#include "commands/plot/series.h"

/* path and label: as series_read. */
enum error series_read_log(struct series_set *set, FILE *file, const char *path, const char *label,
                           struct problem *problem) MUST_USE;
enum error series_read_csv(struct series_set *set, FILE *file, const char *path, const char *label,
                           struct problem *problem) MUST_USE;
enum error series_read_play(struct series_set *set, FILE *file, const char *path, const char *label,
                            struct problem *problem) MUST_USE;

/* Its size; 0: not known. */
double series_file_bytes(FILE *file);

/* Whether a field or column is what was asked for; "-" and "_" are the same. */
bool series_is_name(const char *asked, const char *name);

/* Names for the sentence about what is missing. */
struct series_names {
    char text[384]; /* "a, b, c" */
};
void series_names_add(struct series_names *names, const char *name);

/* MISSING: nothing of that name is in the file; these are. */
enum error series_lacks(const struct series_set *set, const char *path,
                        const struct series_names *names, struct problem *problem) MUST_USE;

enum error series_too_many(struct problem *problem) MUST_USE;

#endif
