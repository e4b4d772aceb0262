#include "daemon/json_fields.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

json_t *json_of_id(const uint8_t id[static ID_BYTES])
{
    static const uint8_t nobody[ID_BYTES];
    char text[2 * ID_BYTES + 1];
    if (memcmp(id, nobody, ID_BYTES) == 0)
        return NULL;
    for (int i = 0; i < ID_BYTES; i++)
        (void)snprintf(text + 2 * i, 3, "%02x", id[i]);
    return json_string(text);
}

json_t *json_of_address(const struct address *address)
{
    char text[ADDRESS_TEXT_BYTES];
    return address->port ? json_string(address_text(address, text)) : NULL;
}

static json_t *digest_json(uint64_t digest)
{
    char text[17];
    (void)snprintf(text, sizeof text, "%016" PRIx64, digest);
    return json_string(text);
}

double json_seconds_since(uint64_t now_ns, uint64_t at_ns)
{
    return now_ns > at_ns ? (double)(now_ns - at_ns) * 1e-9 : 0;
}

/* Returns NULL if the value is unknown or not finite. */
static json_t *field_json(const struct field *field, const void *record, uint64_t now_ns)
{
    static const size_t BYTES[] = {
        [FIELD_ID] = ID_BYTES,           [FIELD_ADDRESS] = sizeof(struct address),
        [FIELD_FLAG] = sizeof(bool),     [FIELD_U32] = sizeof(uint32_t),
        [FIELD_U64] = sizeof(uint64_t),  [FIELD_DIGEST] = sizeof(uint64_t),
        [FIELD_REAL] = sizeof(double),   [FIELD_RATE] = sizeof(double),
        [FIELD_SPAN] = sizeof(uint64_t), [FIELD_TRIP] = sizeof(uint64_t),
        [FIELD_AGE] = sizeof(uint64_t),
    };
    const void *at = (const char *)record + field->offset;
    const uint64_t *whole = at;
    const double *real = at;
    CHECK(field->bytes == BYTES[field->kind]);
    switch (field->kind) {
    case FIELD_ID:
        return json_of_id(at);
    case FIELD_ADDRESS:
        return json_of_address(at);
    case FIELD_FLAG:
        return json_boolean(*(const bool *)at);
    case FIELD_U32:
        return json_integer(*(const uint32_t *)at);
    case FIELD_U64:
        return json_integer((json_int_t)*whole);
    case FIELD_DIGEST:
        return digest_json(*whole);
    case FIELD_REAL:
        return json_real(*real);
    case FIELD_RATE:
        return *real > 0 ? json_real(*real) : NULL;
    case FIELD_SPAN:
        return json_real((double)*whole * 1e-9);
    case FIELD_TRIP:
        return *whole ? json_real((double)*whole * 1e-9) : NULL;
    case FIELD_AGE:
        return json_real(json_seconds_since(now_ns, *whole));
    }
    check_failed(__FILE__, __LINE__, "every kind has its JSON");
}

void json_put(json_t *object, const char *key, json_t *value)
{
    CHECK(json_object_set_new(object, key, value ? value : json_null()) == 0);
}

void json_put_fields(json_t *object, const struct field *fields, size_t count, const void *record,
                     uint64_t now_ns)
{
    for (size_t i = 0; i < count; i++)
        json_put(object, fields[i].key, field_json(&fields[i], record, now_ns));
}

void json_add(json_t *list, json_t *value)
{
    CHECK(json_array_append_new(list, value) == 0);
}
