/* Starts the simulator, a program of its own beside this one. */
#ifndef HEARSAY_COMMANDS_SIMULATOR_H
#define HEARSAY_COMMANDS_SIMULATOR_H

/* Replaces this process by `hearsay-sim COMMAND` with the rest of argv. Returns an exit code only
 * if the simulator cannot be started. */
int simulator_start(const char *command, int argc, char **argv);

#endif
