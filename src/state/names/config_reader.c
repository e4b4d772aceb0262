#include "state/names/config_reader.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define NUMBER_MAX 1000000

static const json_t *value_of(const struct config_reader *reader, const json_t *object,
                              const char *key)
{
    const json_t *value = reader->error == OK ? json_object_get(object, key) : NULL;
    return json_is_null(value) ? NULL : value;
}

static void not_ours(struct config_reader *reader, const char *key, const char *is,
                     const char *ours)
{
    reader->error =
        problem_set(reader->problem, MISMATCH,
                    "%.300s: %s is %.40s, but hearsay has layers only for %s; name another model",
                    reader->path, key, is, ours);
}

int config_reader_number(struct config_reader *reader, const char *key, int otherwise)
{
    const json_t *value = value_of(reader, reader->config, key);
    if (reader->error != OK || (!value && otherwise != CONFIG_REQUIRED))
        return otherwise;
    const json_int_t number = json_integer_value(value);
    if (number >= 1 && number <= NUMBER_MAX)
        return (int)number;
    reader->error = problem_set(reader->problem, MALFORMED,
                                "%.300s: %s must be a whole number from 1 to %d; use another copy "
                                "of the file",
                                reader->path, key, NUMBER_MAX);
    return otherwise;
}

bool config_reader_flag(struct config_reader *reader, const char *key, bool otherwise)
{
    const json_t *value = value_of(reader, reader->config, key);
    if (!value)
        return otherwise;
    if (!json_is_boolean(value))
        reader->error = problem_set(
            reader->problem, MALFORMED,
            "%.300s: %s must be true or false; use another copy of the file", reader->path, key);
    return json_is_true(value);
}

void config_reader_expect_real(struct config_reader *reader, const json_t *object, const char *key,
                               double value, double otherwise)
{
    const json_t *found = value_of(reader, object, key);
    const double number = found ? json_number_value(found) : otherwise;
    if (reader->error != OK || fabs(number - value) <= 1e-6 * value)
        return;
    char is[32], ours[32];
    (void)snprintf(is, sizeof is, "%g", number);
    (void)snprintf(ours, sizeof ours, "%g", value);
    not_ours(reader, key, !found || json_is_number(found) ? is : "no number", ours);
}

void config_reader_expect_flag(struct config_reader *reader, const char *key, bool value)
{
    if (config_reader_flag(reader, key, value) != value && reader->error == OK)
        not_ours(reader, key, value ? "false" : "true", value ? "true" : "false");
}

void config_reader_expect_word(struct config_reader *reader, const json_t *object, const char *key,
                               const char *word, const char *same)
{
    const json_t *found = value_of(reader, object, key);
    const char *is = json_string_value(found);
    if (found && !(is && (strcmp(is, word) == 0 || strcmp(is, same) == 0)))
        not_ours(reader, key, is ? is : "no word", word);
}
