/* hearsay expel: the operator expels a member from the swarm.
 *
 *   status.sock ─► number, context, the member's incarnations ─► order, signed ─► state_dir/order
 *   ─► the node applies the order and passes it on ─► status.sock shows it
 *
 * Tests: tests/process/test_expel.sh. */
#ifndef HEARSAY_COMMANDS_OPERATOR_EXPEL_H
#define HEARSAY_COMMANDS_OPERATOR_EXPEL_H

/* Runs the command. argv[0] is "hearsay expel". Returns the exit code: 0 the node applies the
 * order, 1 it does not, 2 wrong usage. */
int expel_run(int argc, char **argv);

#endif
