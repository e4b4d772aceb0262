/* The settings that all nodes of a swarm must share, as a node sends them to its neighbours
 * (node/connection/settings.h): "train.rate=0.02\n" for a key that is CONFIG_SAME,
 * "data.shard!2/5\n" for one that is CONFIG_UNLIKE.
 */
#ifndef HEARSAY_CONFIG_SHARED_SETTINGS_H
#define HEARSAY_CONFIG_SHARED_SETTINGS_H

#include "config/config.h"
#include "wire/message.h"

/* Writes the settings. A node that only relays sends none of data and training; a node with all the
 * data sends no shard. */
void shared_settings_text(const struct config *config, char out[static SETTINGS_MAX + 1]);
/* Adds how the bytes of samples are normalised here: sites with their own files may differ. */
void shared_settings_add_scale(char text[static SETTINGS_MAX + 1], float mean, float scale);

#endif
