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

#define FOLDER_BYTES 512 /* of its path */

/* The folder `wanted`, or a fresh temporary one if that is NULL; its path into dir. FAILED for a
 * folder that holds other things than a swarm. */
enum error folder_make(char dir[static FOLDER_BYTES], const char *wanted,
                       struct problem *problem) MUST_USE;

/* Has a swarm been there before? */
bool folder_is_used(const char *dir);

/* A swarm key, and a folder with an identity for each node; what is there already is kept, so that
 * the swarm goes on. */
enum error folder_make_keys(const char *dir, int nodes, struct problem *problem) MUST_USE;

/* The paths in the configuration of node i (from 1), and its file. */
void folder_fill_config(const char *dir, int i, struct config *config);
enum error folder_write_config(const char *dir, int i, const struct config *config,
                               struct problem *problem) MUST_USE;

/* Remove what this program and its nodes have put there, and nothing else. */
void folder_remove(const char *dir, int nodes);

#endif
