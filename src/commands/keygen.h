/* Make the two secrets of a node, its identity and the key of its swarm, and that of an operator.
 */
#ifndef HEARSAY_COMMANDS_KEYGEN_H
#define HEARSAY_COMMANDS_KEYGEN_H

#include <stdbool.h>

#include "base/error.h"

/* Write a fresh identity (or swarm key, or operator key) to path, which may not exist yet. Says on
 * standard output what was made and what to do with it, never a secret; as_json: as one JSON
 * object,
 * {"file": "node.key", "id": "…"} (the id is the public key, which a swarm key has none of). */
enum error keygen_identity(const char *path, bool as_json, struct problem *problem) MUST_USE;
enum error keygen_swarm(const char *path, bool as_json, struct problem *problem) MUST_USE;
enum error keygen_operator(const char *path, bool as_json, struct problem *problem) MUST_USE;

#endif
