#include "commands/json_output.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/error.h"

void json_output_put(json_t *object, const char *key, json_t *value)
{
    CHECK(json_object_set_new(object, key, value ? value : json_null()) == 0);
}

json_t *json_output_real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *json_output_digest(uint64_t digest)
{
    char text[17];
    (void)snprintf(text, sizeof text, "%016" PRIx64, digest);
    return json_string(text);
}

void json_output(json_t *object)
{
    CHECK(json_is_object(object));
    if (json_dumpf(object, stdout, JSON_COMPACT | JSON_REAL_PRECISION(9)) == 0)
        (void)fputc('\n', stdout); /* errors of stdout are checked at the end of the program */
    json_decref(object);
}
