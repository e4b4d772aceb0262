/* Saves the configuration of a started node in its state folder. Later commands, such as hearsay
 * eval, read its data and model from there.
 *
 *   FOLDER/started.conf   every key with its value, from config_print; its owner and group may read
 *
 * Tests: tests/process/test_data.sh. */
#ifndef HEARSAY_CONFIG_SAVED_CONFIG_H
#define HEARSAY_CONFIG_SAVED_CONFIG_H

#include "config/config.h"
#include "state/disk.h"

/* Writes the path of the configuration in `state`, a state folder, or beside `state`, a file in
 * such a folder. Returns false if there is none that can be read. */
bool saved_config_find(char path[static DISK_PATH_MAX], const char *state);

/* Writes to node.state_dir. FAILED: the file cannot be written. */
enum error saved_config_write(const struct config *config, struct problem *problem) MUST_USE;

#endif
