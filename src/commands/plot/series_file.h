/* The readers of the three kinds of files with series (series.h), and functions that they share. */
#ifndef HEARSAY_COMMANDS_PLOT_SERIES_FILE_H
#define HEARSAY_COMMANDS_PLOT_SERIES_FILE_H

#include "commands/plot/series.h"

/* Each reader adds the points of an open file to the set. path, label and errors: as in
 * series_read. */
enum error series_read_log(struct series_set *set, FILE *file, const char *path, const char *label,
                           struct problem *problem) MUST_USE;
enum error series_read_csv(struct series_set *set, FILE *file, const char *path, const char *label,
                           struct problem *problem) MUST_USE;
enum error series_read_play(struct series_set *set, FILE *file, const char *path, const char *label,
                            struct problem *problem) MUST_USE;

/* Returns the size of the file in bytes; 0 = unknown. */
double series_file_bytes(FILE *file);

/* Returns true if a field or column has the requested name; "-" and "_" count as equal. */
bool series_is_name(const char *asked, const char *name);

/* Names of the values that a file has, for the error message about a missing one. */
struct series_names {
    char text[384]; /* the names, as "a, b, c" */
};
void series_names_add(struct series_names *names, const char *name);

/* Returns MISSING with a message that the file lacks the requested name and which names it has. */
enum error series_lacks(const struct series_set *set, const char *path,
                        const struct series_names *names, struct problem *problem) MUST_USE;

enum error series_too_many(struct problem *problem) MUST_USE;

#endif
