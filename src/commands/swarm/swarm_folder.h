/* The folder of a swarm on this machine.
 *
 *   DIR/swarm.key
 *   DIR/node1/  node.key  node.conf  node.err (its error messages)  base.safetensors
 *   DIR/node2/  ...
 */
#ifndef HEARSAY_COMMANDS_SWARM_SWARM_FOLDER_H
#define HEARSAY_COMMANDS_SWARM_SWARM_FOLDER_H

#include "base/error.h"
#include "config/config.h"

#define FOLDER_BYTES 512 /* maximum size of the folder's path in bytes */

/* Creates the folder `wanted`, or a new temporary one if `wanted` is NULL, and writes its path to
 * dir. Accepts an existing folder that is empty or of a swarm. Returns TOO_BIG for a long path, and
 * FAILED if the folder has other contents or cannot be created. */
enum error folder_make(char dir[static FOLDER_BYTES], const char *wanted,
                       struct problem *problem) MUST_USE;

/* Returns true if a swarm has used the folder before. */
bool folder_is_used(const char *dir);

/* Creates a swarm key, and a folder with an identity for each node. Keeps existing keys, so that an
 * earlier swarm continues. */
enum error folder_make_keys(const char *dir, int nodes, struct problem *problem) MUST_USE;

/* Sets the paths in the configuration of node i (from 1). */
void folder_fill_config(const char *dir, int i, struct config *config);
enum error folder_write_config(const char *dir, int i, const struct config *config,
                               struct problem *problem) MUST_USE;

/* Removes the nodes' folders with all files in them, the swarm key, and DIR if it is then empty. */
void folder_remove(const char *dir, int nodes);

#endif
