/* A command's result for programs: one JSON object in one line on standard output (--json). Numbers
 * are in base units (bytes, seconds); unknown values are null. Held by tests/process/test_json.sh.
 */
#ifndef HEARSAY_COMMANDS_JSON_OUTPUT_H
#define HEARSAY_COMMANDS_JSON_OUTPUT_H

#include <jansson.h>
#include <stdint.h>

/* Sets a key of the object and takes over `value`. NULL, for example of a text that is not UTF-8,
 * becomes null. */
void json_output_put(json_t *object, const char *key, json_t *value);

/* Returns a JSON number; null unless `value` is finite. */
json_t *json_output_real(double value);

/* Returns 64 bits as 16 hexadecimal digits, since readers may round numbers of that size. */
json_t *json_output_digest(uint64_t digest);

/* Prints the object and releases it. */
void json_output(json_t *object);

#endif
