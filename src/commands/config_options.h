/* The options that several commands share: --config FILE, --set SECTION.KEY=VALUE, --log FILE, and
 * for some commands --state DIR, --json, --print-config and --alone.
 *
 *   argv ─► config_options_parse ─► struct config_options ─► config_options_read ─► struct config
 */
#ifndef HEARSAY_COMMANDS_CONFIG_OPTIONS_H
#define HEARSAY_COMMANDS_CONFIG_OPTIONS_H

#include "config/config.h"

#define CONFIG_SETS_MAX 64

/* The given options. Their texts belong to argv. */
struct config_options {
    const char *file;                 /* file of --config; NULL = none */
    const char *set[CONFIG_SETS_MAX]; /* argument of each --set: "SECTION.KEY=VALUE" */
    int sets;                         /* number of assignments */
    const char *log;                  /* value of --log, which sets node.log; NULL = not given */
    const char *state; /* value of --state, which sets node.state_dir; NULL = not given */
    bool json;         /* --json was given */
    bool print_config; /* --print-config was given */
    bool alone;        /* --alone was given */
    bool help;         /* --help was given; later arguments were not read */
};

/* Options that only some commands accept: bits for --log, --state, --json, --print-config and
 * --alone. Every command accepts --config, --set and --help. */
enum { TAKES_LOG = 1, TAKES_STATE = 2, TAKES_JSON = 4, TAKES_PRINT_CONFIG = 8, TAKES_ALONE = 16 };

/* Parses the options of a command, whose name is argv[0] ("hearsay node"). MALFORMED: an unknown
 * option, an operand, or --state together with --config or --set. TOO_BIG: more than
 * CONFIG_SETS_MAX times --set. */
enum error config_options_parse(struct config_options *options, unsigned takes, int argc,
                                char **argv, struct problem *problem) MUST_USE;

/* Adds a --set, for commands that parse their options themselves. TOO_BIG: already CONFIG_SETS_MAX.
 */
enum error config_options_add_set(struct config_options *options, const char *assignment,
                                  struct problem *problem) MUST_USE;

/* Reads the configuration: defaults, then the file, then each --set in order, then --log and
 * --state. Checks all values as config_check does. Errors name the file and line. On an error
 * *config is unchanged. */
enum error config_options_read(struct config *config, const struct config_options *options,
                               struct problem *problem) MUST_USE;

/* Prints the problem's sentence to standard error and returns `code`. */
int config_options_complain(const struct problem *problem, int code);

#endif
