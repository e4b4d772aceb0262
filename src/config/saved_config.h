/* The configuration that a node was started with, kept in its folder: commands that look at the
 * folder later know its data and its model (hearsay eval).
 *
 *   FOLDER/started.conf   every key with its value, as config_print writes it; readable by the
 * owner
 *
 * Held by tests/process/test_data.sh. */
#ifndef HEARSAY_CONFIG_SAVED_CONFIG_H
#define HEARSAY_CONFIG_SAVED_CONFIG_H

#include "config/config.h"
#include "state/disk.h"

/* "FOLDER/started.conf". False: it is too long. */
bool saved_config_path(char path[static DISK_PATH_MAX], const char *folder);

/* Writes it to node.state_dir. FAILED: with a sentence. */
enum error saved_config_write(const struct config *config, struct problem *problem) MUST_USE;

#endif
