/* Converts structs to JSON with tables that give name and unit of each member. */
#ifndef HEARSAY_DAEMON_JSON_FIELDS_H
#define HEARSAY_DAEMON_JSON_FIELDS_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "crypto/identity.h"
#include "wire/address.h"

enum field_kind {
    FIELD_ID,      /* uint8_t[ID_BYTES] as hexadecimal digits; null if all are zero */
    FIELD_ADDRESS, /* struct address as "host:port"; null if the port is 0 */
    FIELD_FLAG,
    FIELD_U32,
    FIELD_U64,
    FIELD_DIGEST, /* uint64_t as 16 hexadecimal digits */
    FIELD_REAL,   /* double; null if it is not finite */
    FIELD_RATE,   /* double; null if it is 0 or less, which means unknown */
    FIELD_SPAN,   /* uint64_t in nanoseconds, written in seconds */
    FIELD_TRIP,   /* uint64_t in nanoseconds, written in seconds; null if 0, which means unknown */
    FIELD_AGE     /* time of an event in nanoseconds, written as seconds before now */
};

struct field {
    const char *key;
    enum field_kind kind;
    size_t offset;
    size_t bytes;
};

#define FIELD(of, member, key, kind)                                                               \
    {                                                                                              \
        (key), (kind), offsetof(struct of, member), sizeof(((struct of *)NULL)->member)            \
    }
#define COUNT(table) (sizeof(table) / sizeof(table)[0])

/* Returns the id as hexadecimal digits; NULL if all bytes are zero. */
json_t *json_of_id(const uint8_t id[static ID_BYTES]);
/* Returns the address as "host:port"; NULL if the port is 0. */
json_t *json_of_address(const struct address *address);
double json_seconds_since(uint64_t now_ns, uint64_t at_ns);

/* Sets a key of the object, and takes ownership of `value`; NULL is written as null. */
void json_put(json_t *object, const char *key, json_t *value);
void json_put_fields(json_t *object, const struct field *fields, size_t count, const void *record,
                     uint64_t now_ns);
void json_add(json_t *list, json_t *value);

#endif
