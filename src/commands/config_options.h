/* The options that commands share: --config FILE, --set SECTION.KEY=VALUE, --log FILE and, where a
 * command knows them, --state DIR, --json and --print-config.
 *
 *   argv ─► config_options_parse ─► struct config_options ─► config_options_read ─► struct config
 */
#ifndef HEARSAY_COMMANDS_CONFIG_OPTIONS_H
#define HEARSAY_COMMANDS_CONFIG_OPTIONS_H

#include "config/config.h"

#define CONFIG_SETS_MAX 64

/* The given options; points into argv. */
struct config_options {
    const char *file;                 /* file of --config; NULL = none */
    const char *set[CONFIG_SETS_MAX]; /* assignment of each --set */
    int sets;                         /* number of assignments */
    const char *log;                  /* node.log; NULL = not given */
    const char *state;                /* node.state_dir; NULL = not given */
    bool json;                        /* --json was given */
    bool print_config;                /* --print-config was given */
    bool alone;                       /* --alone was given */
    bool help;                        /* --help was given; later arguments were not read */
};

/* Optional options of a command: a bit set of --log, --state, --json, --print-config and --alone.
 * All commands have the other options. */
enum { TAKES_LOG = 1, TAKES_STATE = 2, TAKES_JSON = 4, TAKES_PRINT_CONFIG = 8, TAKES_ALONE = 16 };

/* Reads the options of a command, whose name is argv[0] ("hearsay node"). MALFORMED with a
 * sentence: unknown options, arguments, or --state beside --config or --set. TOO_BIG: too many
 * --set. */
enum error config_options_parse(struct config_options *options, unsigned takes, int argc,
                                char **argv, struct problem *problem) MUST_USE;

/* Adds another --set, for commands that read their options themselves. TOO_BIG: too many. */
enum error config_options_add_set(struct config_options *options, const char *assignment,
                                  struct problem *problem) MUST_USE;

/* Reads the configuration: defaults, then the file, then each --set in order, then --log and
 * --state. Checks it as config_check does, and errors name file and line. On an error config stays
 * as it was. */
enum error config_options_read(struct config *config, const struct config_options *options,
                               struct problem *problem) MUST_USE;

/* Prints the sentence to standard error, as all commands do; returns code. */
int config_options_complain(const struct problem *problem, int code);

#endif
