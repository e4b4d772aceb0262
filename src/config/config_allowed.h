/* Describes the allowed values of a key, and writes the message for a wrong value.
 *
 * Tests: tests/unit/config/test_config.c.
 */
#ifndef HEARSAY_CONFIG_CONFIG_ALLOWED_H
#define HEARSAY_CONFIG_CONFIG_ALLOWED_H

#include <stdint.h>

#include "config/config_key.h"

/* Allowed values of a key, such as "1 to 4096 samples". */
struct config_allowed {
    char text[384];
};
struct config_allowed config_allowed_of(const struct config_key *key);

/* Returns MALFORMED with a message that names key, value, the reason `why`, and the allowed
 * values. */
enum error config_allowed_refuse(const struct config_key *key, const char *text, const char *why,
                                 struct problem *problem) MUST_USE;

/* A size in bytes as users write it: "64M", with powers of 1024. */
struct config_size {
    char text[32];
};
struct config_size config_allowed_size(uint64_t bytes);

#endif
