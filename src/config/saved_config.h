/* Saves the configuration that a node was started with in its state folder, so that later commands
 * know its data and model (hearsay eval).
 *
 *   FOLDER/started.conf   every key with its value, as config_print writes it; for its owner alone
 *
 * Held by tests/process/test_data.sh. */
#ifndef HEARSAY_CONFIG_SAVED_CONFIG_H
#define HEARSAY_CONFIG_SAVED_CONFIG_H

#include "config/config.h"
#include "state/disk.h"

/* Writes the path "FOLDER/started.conf". Returns false if it is too long. */
bool saved_config_path(char path[static DISK_PATH_MAX], const char *folder);

/* Writes the configuration to node.state_dir. Returns FAILED with a sentence if it cannot. */
enum error saved_config_write(const struct config *config, struct problem *problem) MUST_USE;

#endif
