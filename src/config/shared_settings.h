/* The settings that all nodes of a swarm must share, as a node says them to its neighbours
 * (node/connection/settings.h): "train.rate=0.02\n" for a key that is CONFIG_SAME,
 * "data.shard!2/5\n" for one that is CONFIG_UNLIKE.
 */
#ifndef HEARSAY_CONFIG_SHARED_SETTINGS_H
#define HEARSAY_CONFIG_SHARED_SETTINGS_H

#include "config/config.h"
#include "wire/message.h"

/* A node that only passes on says nothing of data and training; one that has all the data says no
 * part of it. */
void shared_settings_text(const struct config *config, char out[static SETTINGS_MAX + 1]);
/* Adds how the bytes of samples are normalised here: sites with files of their own may differ. */
void shared_settings_add_scale(char text[static SETTINGS_MAX + 1], float mean, float scale);

#endif
