/* Converts one configuration value between its text and its member of struct config. */
#ifndef HEARSAY_CONFIG_CONFIG_VALUE_H
#define HEARSAY_CONFIG_CONFIG_VALUE_H

#include <stdio.h>

#include "config/config.h"
#include "config/config_key.h"

/* Parses text (without surrounding blanks; double quotes are allowed) into the key's member of
 * `record` (a struct config, or another struct with the key's offset), within its bounds. On an
 * error returns MALFORMED with a sentence that has key, value and allowed values; record is
 * unchanged. */
enum error config_value_set(void *record, const struct config_key *key, const char *text,
                            struct problem *problem) MUST_USE;

/* Prints the value of the key's member of `record`. config_value_set reads it back exactly. */
void config_value_print(const void *record, const struct config_key *key, FILE *out);

#endif
