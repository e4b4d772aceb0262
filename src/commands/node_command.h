/* hearsay node: runs a node; this file has its options. */
#ifndef HEARSAY_COMMANDS_NODE_COMMAND_H
#define HEARSAY_COMMANDS_NODE_COMMAND_H

/* Runs the command. argv[0] is "hearsay node". Returns the exit code: 0 left the swarm and saved
 * the model, 1 failed, 2 wrong usage or configuration. */
int node_command_run(int argc, char **argv);

#endif
