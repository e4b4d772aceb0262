/* hearsay predict: predictions of a saved model, or of a node, for samples in files. */
#ifndef HEARSAY_COMMANDS_PREDICT_H
#define HEARSAY_COMMANDS_PREDICT_H

/* Runs the command. argv[0] begins its messages. Returns the exit code. */
int predict_run(int argc, char **argv);

#endif
