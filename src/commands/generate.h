/* hearsay generate: continues a text with a saved model. */
#ifndef HEARSAY_COMMANDS_GENERATE_H
#define HEARSAY_COMMANDS_GENERATE_H

/* Runs the command. argv[0] is "hearsay generate". Returns the exit code: 0 done, 1 failed, 2 wrong
 * usage. */
int generate_run(int argc, char **argv);

#endif
