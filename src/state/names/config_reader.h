/* Reads keys of a config.json one after the other. The first wrong key sets the problem, and later
 * keys are ignored. */
#ifndef HEARSAY_STATE_NAMES_CONFIG_READER_H
#define HEARSAY_STATE_NAMES_CONFIG_READER_H

#include <jansson.h>
#include <stdbool.h>

#include "base/error.h"

#define CONFIG_REQUIRED 0 /* value in place of a default: the key is required */

struct config_reader {
    const json_t *config; /* the JSON object */
    const char *path;     /* path of the file */
    enum error error;     /* OK so far; otherwise MALFORMED or MISMATCH */
    struct problem *problem;
};

/* Returns a whole number from 1 to 1,000,000; `otherwise` if the key is missing or null. */
int config_reader_number(struct config_reader *reader, const char *key, int otherwise);

bool config_reader_flag(struct config_reader *reader, const char *key, bool otherwise);

/* Sets MISMATCH unless the key has this value, because our layers support no other. A missing key
 * counts as `otherwise`, or as right. */
void config_reader_expect_real(struct config_reader *reader, const json_t *object, const char *key,
                               double value, double otherwise);
void config_reader_expect_flag(struct config_reader *reader, const char *key, bool value);
/* Sets MISMATCH unless the key has one of two words. */
void config_reader_expect_word(struct config_reader *reader, const json_t *object, const char *key,
                               const char *word, const char *same);

#endif
