/* hearsay data: describes data files, or the data of a configuration, and reports what is wrong
 * with them. */
#ifndef HEARSAY_COMMANDS_DATA_DATA_COMMAND_H
#define HEARSAY_COMMANDS_DATA_DATA_COMMAND_H

/* Runs the command. argv[0] begins its messages. Returns the exit code. */
int data_command_run(int argc, char **argv);

#endif
