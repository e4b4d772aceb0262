/* hearsay data: what files hold, or the data of a configuration, and what is wrong with them. */
#ifndef HEARSAY_COMMANDS_DATA_DATA_COMMAND_H
#define HEARSAY_COMMANDS_DATA_DATA_COMMAND_H

/* argv[0] begins its messages. Returns the exit code. */
int data_command_run(int argc, char **argv);

#endif
