/* The options by which commands take a configuration: --config FILE, --set SECTION.KEY=VALUE and
 * --log FILE. */
#ifndef HEARSAY_COMMANDS_CONFIG_OPTIONS_H
#define HEARSAY_COMMANDS_CONFIG_OPTIONS_H

#include "config/config.h"

#define CONFIG_SETS_MAX 64

/* Points into argv. */
struct config_options {
    const char *file; /* NULL: none */
    const char *set[CONFIG_SETS_MAX];
    int sets;
    const char *log; /* node.log; NULL: not given */
};

/* One more --set. */
enum error config_options_set(struct config_options *options, const char *assignment,
                              struct problem *problem) MUST_USE;

/* Defaults, then the file, then each --set in order, then --log; and whether the whole fits
 * together, as config_check, but with file and line where the file says it. A fault leaves config
 * as it was. */
enum error config_options_read(struct config *config, const struct config_options *options,
                               struct problem *problem) MUST_USE;

#endif
