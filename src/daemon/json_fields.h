/* Structs as JSON, by tables that say how each member is called there and in which unit. */
#ifndef HEARSAY_DAEMON_JSON_FIELDS_H
#define HEARSAY_DAEMON_JSON_FIELDS_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "crypto/identity.h"
#include "socket/address.h"

enum field_kind {
    FIELD_ID,      /* uint8_t[ID_BYTES]; null: zeros */
    FIELD_ADDRESS, /* struct address; null: port 0 */
    FIELD_FLAG,    /* bool */
    FIELD_U32,
    FIELD_U64,
    FIELD_DIGEST, /* uint64_t as 16 hexadecimal digits */
    FIELD_REAL,   /* double; null: not finite */
    FIELD_RATE,   /* double; null: not above 0, so not known */
    FIELD_SPAN,   /* uint64_t in ns, given in s */
    FIELD_TRIP,   /* the same; null: 0, so not measured */
    FIELD_AGE     /* the time of an event in ns, given in s before now */
};

struct field {
    const char *key;
    enum field_kind kind;
    size_t offset; /* of the member */
    size_t bytes;  /* of the member */
};

#define FIELD(of, member, key, kind)                                                               \
    {                                                                                              \
        (key), (kind), offsetof(struct of, member), sizeof(((struct of *)NULL)->member)            \
    }
#define COUNT(table) (sizeof(table) / sizeof(table)[0])

/* The id in hexadecimal; NULL if it is all zeros. */
json_t *json_of_id(const uint8_t id[static ID_BYTES]);
/* "host:port"; NULL if there is no port. */
json_t *json_of_address(const struct address *address);
double json_seconds_since(uint64_t now_ns, uint64_t at_ns);

/* value is taken over; NULL becomes null. */
void json_put(json_t *object, const char *key, json_t *value);
void json_put_fields(json_t *object, const struct field *fields, size_t count, const void *record,
                     uint64_t now_ns);
void json_add(json_t *list, json_t *value);

#endif
