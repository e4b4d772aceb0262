/* hearsay eval: how good a saved model is. */
#ifndef HEARSAY_COMMANDS_EVAL_H
#define HEARSAY_COMMANDS_EVAL_H

/* argv[0] is "hearsay eval". Returns the exit code: 0, 1 (a fault), 2 (wrong usage). */
int eval_run(int argc, char **argv);

#endif
