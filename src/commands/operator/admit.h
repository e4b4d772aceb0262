/* hearsay admit: the operator says who is a member (wire/order.h, order_giver.h). Held by
 * tests/process/test_admit.sh. */
#ifndef HEARSAY_COMMANDS_OPERATOR_ADMIT_H
#define HEARSAY_COMMANDS_OPERATOR_ADMIT_H

/* argv[0] is "hearsay admit". Returns the exit code: 0 the node obeys and passes it on, 1 it does
 * not, 2 wrong usage. */
int admit_run(int argc, char **argv);

#endif
