/* The commands of hearsay-sim. Each returns the exit code (config/command.h). */
#ifndef HEARSAY_SIM_COMMANDS_COMMANDS_H
#define HEARSAY_SIM_COMMANDS_COMMANDS_H

/* hearsay sim (options/sim_command.h). */
int play_scenario(int argc, char **argv);
/* hearsay compare (options/comparison_command.h). */
int play_comparison(int argc, char **argv);

#endif
