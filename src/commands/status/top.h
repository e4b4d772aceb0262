/* hearsay top: shows the status of the node on this machine on the whole terminal and refreshes it
 * each second. top_view.h draws the screen. Tests: tests/process/test_status.sh.
 */
#ifndef HEARSAY_COMMANDS_STATUS_TOP_H
#define HEARSAY_COMMANDS_STATUS_TOP_H

#include "config/command.h"

extern const struct command top_command;

#endif
