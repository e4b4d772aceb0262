/* hearsay expel: the operator expels a member from the swarm.
 *
 *   status.sock ─► number, context, the member's incarnations ─► order, signed ─► state_dir/order
 *   ─► the node applies the order and passes it on ─► status.sock shows it
 *
 * Tests: tests/process/test_expel.sh. */
#ifndef HEARSAY_COMMANDS_OPERATOR_EXPEL_H
#define HEARSAY_COMMANDS_OPERATOR_EXPEL_H

#include "config/command.h"

extern const struct command expel_command;

#endif
