/* hearsay admit: the operator admits a member (wire/order.h, order_giver.h). Tests:
 * tests/process/test_admit.sh. */
#ifndef HEARSAY_COMMANDS_OPERATOR_ADMIT_H
#define HEARSAY_COMMANDS_OPERATOR_ADMIT_H

#include "config/command.h"

extern const struct command admit_command;

#endif
