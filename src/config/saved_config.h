/* Saves the configuration of a started node in its state folder. Later commands, such as hearsay
 * eval, read its data and model from there.
 *
 *   FOLDER/started.conf   every key with its value, from config_print; only its owner may read it
 *
 * Tests: tests/process/test_data.sh. */
#ifndef HEARSAY_CONFIG_SAVED_CONFIG_H
#define HEARSAY_CONFIG_SAVED_CONFIG_H

#include "config/config.h"
#include "state/disk.h"

/* Returns false if the path is too long. */
bool saved_config_path(char path[static DISK_PATH_MAX], const char *folder);

/* Writes to node.state_dir. FAILED: the file cannot be written. */
enum error saved_config_write(const struct config *config, struct problem *problem) MUST_USE;

#endif
