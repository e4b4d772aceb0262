/* hearsay eval: loss and accuracy of a saved model, in a state folder or in any safetensors file
 * that model.start takes. Tests: tests/process/test_from_model.sh and test_swarm.sh. */
#ifndef HEARSAY_COMMANDS_EVAL_H
#define HEARSAY_COMMANDS_EVAL_H

/* Runs the command. argv[0] is "hearsay eval". Returns the exit code: 0 done, 1 failed, 2 wrong
 * usage. */
int eval_run(int argc, char **argv);

#endif
