/* hearsay rekey: the operator gives a running swarm another key.
 *
 *   a fresh key ─► state_dir/swarm.key.next ─┐
 *   an order for it ─► state_dir/order ──────┴─► the node that runs there ─► all members
 */
#ifndef HEARSAY_COMMANDS_OPERATOR_REKEY_H
#define HEARSAY_COMMANDS_OPERATOR_REKEY_H

#include "config/command.h"

extern const struct command rekey_command;

#endif
