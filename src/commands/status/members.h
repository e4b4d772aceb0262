/* hearsay members: lists the members of the swarm and their contributions, as the node of this
 * machine knows them. Reads the status page as hearsay status does (status.h) and shows other
 * columns. Tests: tests/unit/commands/test_status_text.c and tests/process/test_listed.sh. */
#ifndef HEARSAY_COMMANDS_STATUS_MEMBERS_H
#define HEARSAY_COMMANDS_STATUS_MEMBERS_H

#include "config/command.h"

extern const struct command members_command;

#endif
