/* Reads keys of a config.json one after the other. The first wrong key sets the error and the
 * problem; later calls do nothing. */
#ifndef HEARSAY_STATE_NAMES_CONFIG_READER_H
#define HEARSAY_STATE_NAMES_CONFIG_READER_H

#include <jansson.h>
#include <stdbool.h>

#include "base/error.h"

#define CONFIG_REQUIRED 0 /* `otherwise` of a required key, which has no default */

struct config_reader {
    const json_t *config;
    const char *path;
    enum error error; /* OK, or the first error: MALFORMED or MISMATCH */
    struct problem *problem;
};

/* Returns a whole number from 1 to 1,000,000; `otherwise` if the key is missing or null. */
int config_reader_number(struct config_reader *reader, const char *key, int otherwise);

bool config_reader_flag(struct config_reader *reader, const char *key, bool otherwise);

/* config_reader_expect_real and config_reader_expect_flag set MISMATCH unless the key has this
 * value, the only one that our layers support. A missing real number counts as `otherwise`; a
 * missing flag is accepted. */
void config_reader_expect_real(struct config_reader *reader, const json_t *object, const char *key,
                               double value, double otherwise);
void config_reader_expect_flag(struct config_reader *reader, const char *key, bool value);
/* Sets MISMATCH unless the key has the value `word` or `same`, which mean the same. A missing key
 * is accepted. */
void config_reader_expect_word(struct config_reader *reader, const json_t *object, const char *key,
                               const char *word, const char *same);

#endif
