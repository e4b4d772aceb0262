/* hearsay rewind: lists the saved bases, and copies one from which a swarm can restart: after a
 * member did harm for longer than the logs reach back, or after training ruined the model.
 *
 *   STATE_DIR/base.safetensors, base-T.safetensors ─► a table: time, contributions of members
 *     ─ --to N ─► a checked copy, and what is to be done with it, step by step
 *
 * It needs no running node and changes nothing in the state folder. The new swarm has another name,
 * so no node brings rumors of the old one. Tests: tests/process/test_rewind.sh. */
#ifndef HEARSAY_COMMANDS_REWIND_H
#define HEARSAY_COMMANDS_REWIND_H

#include "config/command.h"

extern const struct command rewind_command;

#endif
