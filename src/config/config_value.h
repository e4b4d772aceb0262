/* Converts the value of one configuration key from text to its struct member, and back. */
#ifndef HEARSAY_CONFIG_CONFIG_VALUE_H
#define HEARSAY_CONFIG_CONFIG_VALUE_H

#include <stdio.h>

#include "config/config.h"
#include "config/config_key.h"

/* Parses `text` (without surrounding blanks; double quotes are allowed) into the key's member of
 * `record`: a struct config, or another struct that has the member at key->offset. Returns
 * MALFORMED with a message if the value is not allowed; record is then unchanged. */
enum error config_value_set(void *record, const struct config_key *key, const char *text,
                            struct problem *problem) MUST_USE;

/* Prints the value of the key's member of `record`, as text from which config_value_set reads the
 * same value. */
void config_value_print(const void *record, const struct config_key *key, FILE *out);

#endif
