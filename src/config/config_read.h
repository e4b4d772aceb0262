/* Reads files and assignments in the format of configurations, also for callers with other
 * contents: config_options.c, and the simulator's scenarios. config.c and config_check.c implement
 * it.
 */
#ifndef HEARSAY_CONFIG_CONFIG_READ_H
#define HEARSAY_CONFIG_CONFIG_READ_H

#include "config/config.h"
#include "config/config_key.h"

/* The parts of an assignment, without surrounding blanks. */
struct config_parts {
    char section[CONFIG_NAME_BYTES]; /* text before the dot */
    char name[CONFIG_NAME_BYTES];    /* text between dot and equals sign */
    char value[CONFIG_LINE_BYTES];   /* text after the equals sign */
};
enum error config_split(struct config_parts *parts, const char *assignment,
                        struct problem *problem) MUST_USE;

/* Reads any configuration file line by line. The first call that does not return OK ends the
 * reading, and its message gets file and line. on_key also gets the line. */
struct config_reader {
    /* Called for a line [section]. */
    enum error (*on_section)(void *context, const char *section, struct problem *problem);
    /* Called for a line name = value. */
    enum error (*on_key)(void *context, const char *section, const char *name, const char *value,
                         int line, struct problem *problem);
    void *context; /* first argument of both functions */
};
enum error config_read(const char *path, const struct config_reader *reader,
                       struct problem *problem) MUST_USE;

/* State while a configuration is read, in which a file may set each key once. */
struct config_load {
    struct config config;         /* values read so far */
    int line_of[CONFIG_KEYS_MAX]; /* line in which a file set each key; 0 = not set by a file */
};
enum error config_load_key(struct config_load *load, const char *section, const char *name,
                           const char *value, int line, struct problem *problem) MUST_USE;

/* Reads an INI file over the values in `load`. Errors: MISSING (no such file), FAILED (cannot be
 * read), MALFORMED (wrong contents), each with a sentence that names file and line. After an error
 * a part of the file may be in `load`. config_set, config_resolve and config_check follow; the
 * check names the file and line of a key. */
enum error config_load_file(struct config_load *load, const char *path,
                            struct problem *problem) MUST_USE;
enum error config_load_set(struct config_load *load, const char *assignment,
                           struct problem *problem) MUST_USE;
enum error config_load_check(struct config_load *load, const char *path,
                             struct problem *problem) MUST_USE;

#endif
