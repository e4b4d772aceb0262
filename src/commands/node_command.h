/* hearsay node: the options of a daemon. */
#ifndef HEARSAY_COMMANDS_NODE_COMMAND_H
#define HEARSAY_COMMANDS_NODE_COMMAND_H

/* argv[0] is "hearsay node". Returns the exit code: 0 left the swarm and saved the model, 1 failed,
 * 2 wrong usage or configuration. */
int node_command_run(int argc, char **argv);

#endif
