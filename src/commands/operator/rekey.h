/* hearsay rekey: the operator gives a running swarm another key.
 *
 *   a fresh key ─► state_dir/swarm.key.next ─┐
 *   an order for it ─► state_dir/order ──────┴─► the node that runs there ─► all members
 */
#ifndef HEARSAY_COMMANDS_OPERATOR_REKEY_H
#define HEARSAY_COMMANDS_OPERATOR_REKEY_H

/* Runs the command. argv[0] is "hearsay rekey". Returns the exit code: 0 the node has the key and
 * passes it on, 1 it does not, 2 wrong usage. */
int rekey_run(int argc, char **argv);

#endif
