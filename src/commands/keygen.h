/* Creates the secrets of a node (its identity and the swarm key), and an operator's key. Each
 * command writes a new secret to a file, which must not exist yet, and prints the file and its use,
 * never the secret. With --json it prints {"file": "node.key", "id": "…"}: the id is the public
 * key; a swarm key has none. */
#ifndef HEARSAY_COMMANDS_KEYGEN_H
#define HEARSAY_COMMANDS_KEYGEN_H

#include "config/command.h"

extern const struct command keygen_command, swarmkey_command, operatorkey_command;

#endif
