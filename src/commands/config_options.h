/* The options that several commands share: --config FILE, --set SECTION.KEY=VALUE, --log FILE, and
 * for some commands --state DIR and --json.
 *
 *   argv ─► command_read ─► struct config_options ─► config_options_read ─► struct config
 */
#ifndef HEARSAY_COMMANDS_CONFIG_OPTIONS_H
#define HEARSAY_COMMANDS_CONFIG_OPTIONS_H

#include "config/command.h"
#include "config/config.h"

#define CONFIG_SETS_MAX 64

/* Options that the user gave; their texts stay in argv. */
struct config_options {
    const char *file;                 /* file of --config; NULL = none */
    const char *set[CONFIG_SETS_MAX]; /* argument of each --set: "SECTION.KEY=VALUE" */
    int sets;
    const char *log;   /* value of --log, which sets node.log; NULL = not given */
    const char *state; /* value of --state, which sets node.state_dir; NULL = not given */
    int states;        /* how often --state was given */
    bool json;
};

/* Each macro below is one or more rows of a command's option table. The command's struct is a
 * struct config_options or begins with one, which COMMAND_BEGINS_WITH checks. */
#define CONFIG_OPTION_SET(help)                                                                    \
    {                                                                                              \
        "--set", "SECTION.KEY=VALUE", help, .set = config_options_add_set                          \
    }
#define CONFIG_OPTION_JSON(help)                                                                   \
    {                                                                                              \
        "--json", NULL, help, .member = offsetof(struct config_options, json)                      \
    }
/* The rows --state, --config and --set of a command that asks a node on this machine: they name the
 * node's state folder. */
#define CONFIG_OPTIONS_OF_NODE                                                                     \
    {"--state", "DIR", "the node's state folder (default state)",                                  \
     .set = config_options_set_state},                                                             \
        {"--config", "FILE",                                                                       \
         "the node's configuration, which names the folder (instead of --state)",                  \
         .member = offsetof(struct config_options, file)},                                         \
        CONFIG_OPTION_SET("set one key as in hearsay node; may be repeated")

/* `set` functions of --set and --state. The first returns TOO_BIG after CONFIG_SETS_MAX options. */
enum error config_options_add_set(void *options, const struct command_option *option,
                                  const char *assignment, struct problem *problem);
enum error config_options_set_state(void *options, const struct command_option *option,
                                    const char *dir, struct problem *problem);

/* The `finish` of a command: returns MALFORMED if --state is given twice, or together with
 * --config or --set. */
enum error config_options_check(void *options, int count, char **operands, struct problem *problem);

/* Reads the configuration: defaults, then the file, then each --set in order, then --log and
 * --state. Checks all values as config_check does, and resolves `auto`. Errors in the file name its
 * line. On an error *config is unchanged. */
enum error config_options_read(struct config *config, const struct config_options *options,
                               struct problem *problem) MUST_USE;

#endif
