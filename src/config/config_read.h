/* Reading files and assignments of our kind, for those that hold more than a configuration:
 * config_options.c, and the scenarios of the simulator. config.c and config_check.c implement it.
 */
#ifndef HEARSAY_CONFIG_CONFIG_READ_H
#define HEARSAY_CONFIG_CONFIG_READ_H

#include "config/config.h"
#include "config/config_key.h"

/* An assignment in its parts, without the blanks round them. */
struct config_parts {
    char section[CONFIG_NAME_BYTES]; /* before the dot */
    char name[CONFIG_NAME_BYTES];    /* between dot and equals sign */
    char value[CONFIG_LINE_BYTES];   /* after the equals sign */
};
enum error config_split(struct config_parts *parts, const char *assignment,
                        struct problem *problem) MUST_USE;

/* Reads any configuration file line by line. The first call that does not return OK ends the
 * reading, and its message gets file and line. on_key also gets the line. */
struct config_reader {
    /* A line [section]. */
    enum error (*on_section)(void *context, const char *section, struct problem *problem);
    /* A line name = value. */
    enum error (*on_key)(void *context, const char *section, const char *name, const char *value,
                         int line, struct problem *problem);
    void *context; /* given to both */
};
enum error config_read(const char *path, const struct config_reader *reader,
                       struct problem *problem) MUST_USE;

/* A configuration being read, each key at most once in its file. */
struct config_load {
    struct config config;         /* as far as it was read */
    int line_of[CONFIG_KEYS_MAX]; /* where a key was set; 0: nowhere yet, or not by a file */
};
enum error config_load_key(struct config_load *load, const char *section, const char *name,
                           const char *value, int line, struct problem *problem) MUST_USE;

/* Read an INI file over what load holds: MISSING (no such file), FAILED (cannot be read), MALFORMED
 * (anything in it), and a sentence with file and line. A fault may leave a part of the file in
 * load. Then config_set, and config_resolve and config_check for the whole; the check names file
 * and line where the key stands. */
enum error config_load_file(struct config_load *load, const char *path,
                            struct problem *problem) MUST_USE;
enum error config_load_set(struct config_load *load, const char *assignment,
                           struct problem *problem) MUST_USE;
enum error config_load_check(struct config_load *load, const char *path,
                             struct problem *problem) MUST_USE;

#endif
