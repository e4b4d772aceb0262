/* The folder of a swarm on this machine.
 *
 *   DIR/swarm.key
 *   DIR/node1/  node.key  node.conf  node.err (its lines for people)  base.safetensors
 *   DIR/node2/  ...
 */
#ifndef HEARSAY_COMMANDS_SWARM_SWARM_FOLDER_H
#define HEARSAY_COMMANDS_SWARM_SWARM_FOLDER_H

#include "base/error.h"
#include "config/config.h"

#define FOLDER_BYTES 512 /* most bytes of the folder's path */

/* Creates the folder `wanted`, or a new temporary one if that is NULL, and writes its path to dir.
 * FAILED: the folder has other contents than a swarm. */
enum error folder_make(char dir[static FOLDER_BYTES], const char *wanted,
                       struct problem *problem) MUST_USE;

/* Returns true if the folder has a swarm from before. */
bool folder_is_used(const char *dir);

/* Creates a swarm key, and a folder with an identity for each node. Existing keys are kept, so that
 * the swarm continues. */
enum error folder_make_keys(const char *dir, int nodes, struct problem *problem) MUST_USE;

/* Sets the paths in the configuration of node i (from 1), and writes its file. */
void folder_fill_config(const char *dir, int i, struct config *config);
enum error folder_write_config(const char *dir, int i, const struct config *config,
                               struct problem *problem) MUST_USE;

/* Removes the files of this program and its nodes, and no others. */
void folder_remove(const char *dir, int nodes);

#endif
