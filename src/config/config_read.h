/* Reads files and assignments in the format of configurations. The simulator's scenarios also use
 * it for their own keys. Implemented in config.c and config_check.c.
 */
#ifndef HEARSAY_CONFIG_CONFIG_READ_H
#define HEARSAY_CONFIG_CONFIG_READ_H

#include "config/config.h"
#include "config/config_key.h"

/* The parts of an assignment "section.name=value", without surrounding blanks. */
struct config_parts {
    char section[CONFIG_NAME_BYTES];
    char name[CONFIG_NAME_BYTES];
    char value[CONFIG_LINE_BYTES];
};
enum error config_split(struct config_parts *parts, const char *assignment,
                        struct problem *problem) MUST_USE;

/* Callbacks for the lines of a configuration file. If one returns an error, reading ends, and file
 * and line are added to its message. */
struct config_reader {
    enum error (*on_section)(void *context, const char *section, struct problem *problem);
    /* line: number of the line "name = value" */
    enum error (*on_key)(void *context, const char *section, const char *name, const char *value,
                         int line, struct problem *problem);
    void *context;
};
enum error config_read(const char *path, const struct config_reader *reader,
                       struct problem *problem) MUST_USE;

/* A configuration that is being loaded, with the line of each key: to detect keys that the file
 * sets twice, and to name the line in error messages. */
struct config_load {
    struct config config;
    int line_of[CONFIG_KEYS_MAX]; /* line of the file that has set each key; 0 = none */
};
enum error config_load_key(struct config_load *load, const char *section, const char *name,
                           const char *value, int line, struct problem *problem) MUST_USE;

/* Reads an INI file over the values in load->config. MISSING: there is no such file. FAILED: it
 * cannot be read. MALFORMED: its contents are wrong; the message names file and line. After an
 * error, some values may have changed. After OK, call config_load_set for each --set and then
 * config_load_check. That resolves `auto`, and its messages name file and line of a key that the
 * file has set. */
enum error config_load_file(struct config_load *load, const char *path,
                            struct problem *problem) MUST_USE;
enum error config_load_set(struct config_load *load, const char *assignment,
                           struct problem *problem) MUST_USE;
enum error config_load_check(struct config_load *load, const char *path,
                             struct problem *problem) MUST_USE;

#endif
