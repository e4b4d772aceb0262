/* The common part of the operator's commands: node, key, help and exit code. Each command has a
 * table of its own options.
 *
 *   argv ─► its options, and --key, --state, --config, --set, --help
 *        ─► order_giver_begin ─► give ─► order_giver_end ─► exit code
 *
 * Tests: tests/process/test_admit.sh, test_expel.sh and test_rekey.sh. */
#ifndef HEARSAY_COMMANDS_OPERATOR_ORDER_COMMAND_H
#define HEARSAY_COMMANDS_OPERATOR_ORDER_COMMAND_H

#include <getopt.h>

#include "commands/operator/order_giver.h"

#define ORDER_OPTIONS_MAX 8 /* most options of one command besides the common ones */

struct order_command {
    const char *about;      /* purpose of the command for --help, in whole lines */
    const char *own_help;   /* own options for --help, in whole lines */
    const char *exit_codes; /* meaning of exit codes 0 and 1 for --help */
    /* Own options for getopt_long, terminated by zeros. `val` is a letter that no common option
     * has. */
    const struct option *options;
    /* Parses one of the command's own options. `word` belongs to argv. MALFORMED: wrong usage. */
    enum error (*take_option)(void *self, int letter, const char *word, struct problem *problem);
    enum error (*take_arguments)(void *self, int count, char **words, struct problem *problem);
    /* Creates the order, gives it to the node and prints it. */
    enum error (*give)(void *self, struct order_giver *giver, struct problem *problem);
};

/* Runs the command. argv[0] is "hearsay COMMAND". `self` is passed to the command's functions.
 * Returns the exit code: 0 the node applies the order, 1 it does not, 2 wrong usage. */
int order_command_run(const struct order_command *command, void *self, int argc, char **argv);

#endif
