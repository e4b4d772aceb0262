/* Keys of a config.json, one after the other. The first that is wrong is the problem, and those
 * after it are not looked at. */
#ifndef HEARSAY_STATE_NAMES_CONFIG_READER_H
#define HEARSAY_STATE_NAMES_CONFIG_READER_H

#include <jansson.h>
#include <stdbool.h>

#include "base/error.h"

#define CONFIG_REQUIRED 0 /* in place of a number: the key must be there */

struct config_reader {
    const json_t *config; /* the object */
    const char *path;     /* of the file */
    enum error error;     /* OK so far; MALFORMED, MISMATCH */
    struct problem *problem;
};

/* A whole number from 1 to 1,000,000; where there is none, or null, `otherwise`. */
int config_reader_number(struct config_reader *reader, const char *key, int otherwise);

bool config_reader_flag(struct config_reader *reader, const char *key, bool otherwise);

/* MISMATCH, unless the key has this value: our layers can do nothing else. A key that is not there
 * is `otherwise`, or right. */
void config_reader_expect_real(struct config_reader *reader, const json_t *object, const char *key,
                               double value, double otherwise);
void config_reader_expect_flag(struct config_reader *reader, const char *key, bool value);
/* One of two words. */
void config_reader_expect_word(struct config_reader *reader, const json_t *object, const char *key,
                               const char *word, const char *same);

#endif
