/* A command's result for programs: one JSON object in one line on standard output (--json). Numbers
 * are in base units (bytes, seconds); unknown values are null. Held by tests/process/test_json.sh.
 */
#ifndef HEARSAY_COMMANDS_JSON_OUTPUT_H
#define HEARSAY_COMMANDS_JSON_OUTPUT_H

#include <jansson.h>
#include <stdint.h>

/* value is taken over. NULL, such as of a text that is no UTF-8, becomes null. */
void json_output_put(json_t *object, const char *key, json_t *value);

/* null where it is not a finite number. */
json_t *json_output_real(double value);

/* 64 bits as 16 hexadecimal digits, since readers may round numbers of that size. */
json_t *json_output_digest(uint64_t digest);

/* Prints the object, and releases it. */
void json_output(json_t *object);

#endif
