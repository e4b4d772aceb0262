/* Prints a command's result for other programs (--json): one JSON object in one line on standard
 * output. Numbers are in base units (bytes, seconds); unknown values are null. Tests:
 * tests/process/test_json.sh.
 */
#ifndef HEARSAY_COMMANDS_JSON_OUTPUT_H
#define HEARSAY_COMMANDS_JSON_OUTPUT_H

#include <jansson.h>
#include <stdint.h>

/* Sets a key of the object and takes ownership of `value`. A NULL value becomes null; jansson
 * returns NULL for a text that is not UTF-8. */
void json_output_put(json_t *object, const char *key, json_t *value);

/* Returns a JSON number; null unless `value` is finite. */
json_t *json_output_real(double value);

/* Returns 64 bits as a string of 16 hexadecimal digits, because JSON readers may round such large
 * numbers. */
json_t *json_output_digest(uint64_t digest);

/* Prints the object and releases it. */
void json_output(json_t *object);

#endif
