/* hearsay model: prints a line of layers as a table, without training it. */
#ifndef HEARSAY_COMMANDS_MODEL_COMMAND_H
#define HEARSAY_COMMANDS_MODEL_COMMAND_H

/* Runs the command. argv[0] is "hearsay model". Returns the exit code: 0 printed, 1 the line is
 * wrong, 2 wrong usage. */
int model_command_run(int argc, char **argv);

#endif
