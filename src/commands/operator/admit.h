/* hearsay admit: the operator admits a member (wire/order.h, order_giver.h). Tests:
 * tests/process/test_admit.sh. */
#ifndef HEARSAY_COMMANDS_OPERATOR_ADMIT_H
#define HEARSAY_COMMANDS_OPERATOR_ADMIT_H

/* Runs the command. argv[0] is "hearsay admit". Returns the exit code: 0 the node applies the order
 * and passes it on, 1 it does not, 2 wrong usage. */
int admit_run(int argc, char **argv);

#endif
