/* One configuration value between its text and its member of struct config. */
#ifndef HEARSAY_CONFIG_CONFIG_VALUE_H
#define HEARSAY_CONFIG_CONFIG_VALUE_H

#include <stdio.h>

#include "config/config.h"
#include "config/config_key.h"

/* Parse text (no blanks around it; may stand in double quotes) into the key's member of `record`
 * (a struct config, or whatever the key's offset is in), within its bounds. A fault: MALFORMED, a
 * sentence with key, value and what is allowed, record unchanged. */
enum error config_value_set(void *record, const struct config_key *key, const char *text,
                            struct problem *problem) MUST_USE;

/* The value of the member of `record`, as config_value_set reads it back to the bit. */
void config_value_print(const void *record, const struct config_key *key, FILE *out);

#endif
