/* hearsay predict: what a saved model says of samples in files. */
#ifndef HEARSAY_COMMANDS_PREDICT_H
#define HEARSAY_COMMANDS_PREDICT_H

/* argv[0] begins its messages. Returns the exit code. */
int predict_run(int argc, char **argv);

#endif
