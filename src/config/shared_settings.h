/* Writes the settings that a node compares with its neighbours' (node/connection/settings.h), a
 * line for each key: "train.rate=0.02\n" if all nodes must have one value (CONFIG_SAME),
 * "data.shard!2/5\n" if their values must differ (CONFIG_UNLIKE). */
#ifndef HEARSAY_CONFIG_SHARED_SETTINGS_H
#define HEARSAY_CONFIG_SHARED_SETTINGS_H

#include "config/config.h"
#include "data/dataset.h"
#include "wire/message.h"

/* Writes the settings that the node compares. A node that only relays leaves out keys of data and
 * training; a node with all the data leaves out its shard. train: the node's training samples; NULL
 * = not loaded. Adds the normalisation of bytes, mean and deviation of the model's inputs and
 * targets (SETTINGS_INPUTS, SETTINGS_TARGETS), and the range of labels (SETTINGS_LABELS), because
 * nodes with their own files may differ. */
void shared_settings_text(const struct config *config, const struct dataset *train,
                          char out[static SETTINGS_MAX + 1]);

#endif
