/* The common part of the operator's commands: node, key and exit code.
 *
 *   argv ─► command_read ─► order_giver_begin ─► give ─► order_giver_end ─► exit code
 *
 * Tests: tests/process/test_admit.sh, test_expel.sh and test_rekey.sh. */
#ifndef HEARSAY_COMMANDS_OPERATOR_ORDER_COMMAND_H
#define HEARSAY_COMMANDS_OPERATOR_ORDER_COMMAND_H

#include "commands/config_options.h"
#include "commands/operator/order_giver.h"

/* Options of all operator's commands, at the beginning of each command's struct. */
struct order_options {
    struct config_options config; /* options that name the node's state folder */
    const char *key;              /* path of the operator's key file; NULL = operator.key */
};
COMMAND_BEGINS_WITH(struct order_options, config);

/* ORDER_OPTIONS: last rows in the option table of an operator's command. ORDER_WHERE_TO_RUN: end
 * of such a command's `about` text. */
#define ORDER_OPTIONS                                                                              \
    {"--key", "FILE", "the operator's key (default operator.key)",                                 \
     .member = offsetof(struct order_options, key)},                                               \
        CONFIG_OPTIONS_OF_NODE,                                                                    \
        CONFIG_OPTION_JSON("print one JSON object: the orders that were given")
#define ORDER_WHERE_TO_RUN                                                                         \
    "\n\nRun it in the folder of a running node. All nodes must have the public half of your "     \
    "key\n"                                                                                        \
    "as node.operator."

/* Runs the command. `self` begins with a struct order_options and is passed to `give`, which
 * creates the order, gives it to the node and prints it. Returns the exit code: 0 the node applies
 * the order, 1 it does not, 2 wrong usage. */
int order_command_run(const struct command *command, void *self, int argc, char **argv,
                      enum error (*give)(void *self, struct order_giver *giver,
                                         struct problem *problem));

#endif
