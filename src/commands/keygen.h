/* Creates the secrets of a node (its identity and the swarm key), and an operator's key. */
#ifndef HEARSAY_COMMANDS_KEYGEN_H
#define HEARSAY_COMMANDS_KEYGEN_H

#include <stdbool.h>

#include "base/error.h"

/* Each function writes a new secret to `path`, which must not exist yet: an identity, a swarm key
 * or an operator's key. Prints the file and its use, never the secret. as_json: prints one JSON
 * object instead, {"file": "node.key", "id": "…"}. The id is the public key; a swarm key has none.
 */
enum error keygen_identity(const char *path, bool as_json, struct problem *problem) MUST_USE;
enum error keygen_swarm(const char *path, bool as_json, struct problem *problem) MUST_USE;
enum error keygen_operator(const char *path, bool as_json, struct problem *problem) MUST_USE;

#endif
