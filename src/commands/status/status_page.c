#include "commands/status/status_page.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum field_kind { FIELD_TEXT, FIELD_FLAG, FIELD_WHOLE, FIELD_REAL };

struct field {
    const char *key;
    enum field_kind kind;
    size_t offset;
    size_t bytes; /* of a text */
};

#define TEXT(type, member)                                                                         \
    {                                                                                              \
#member, FIELD_TEXT, offsetof(struct type, member), sizeof(((struct type *)NULL)->member)  \
    }
#define FLAG(type, member)                                                                         \
    {                                                                                              \
#member, FIELD_FLAG, offsetof(struct type, member), 0                                      \
    }
#define WHOLE(type, member)                                                                        \
    {                                                                                              \
#member, FIELD_WHOLE, offsetof(struct type, member), 0                                     \
    }
#define REAL(type, member)                                                                         \
    {                                                                                              \
#member, FIELD_REAL, offsetof(struct type, member), 0                                      \
    }
#define COUNT(table) (sizeof(table) / sizeof(table)[0])

static const struct field PAGE_FIELDS[] = {
    TEXT(status_page, program),
    TEXT(status_page, id),
    TEXT(status_page, swarm),
    TEXT(status_page, address),
    WHOLE(status_page, incarnation),
    REAL(status_page, uptime_s),
    TEXT(status_page, stage),
    FLAG(status_page, healthy),
    FLAG(status_page, trains),
    WHOLE(status_page, parameters),
    TEXT(status_page, digest),
    WHOLE(status_page, rumors_known),
    WHOLE(status_page, rumors_published),
    WHOLE(status_page, rumors_received),
    WHOLE(status_page, duplicates),
    WHOLE(status_page, waiting),
    REAL(status_page, lag_s),
    WHOLE(status_page, steps),
    WHOLE(status_page, samples),
    REAL(status_page, samples_per_second),
    REAL(status_page, loss),
    REAL(status_page, share),
    REAL(status_page, interval_s),
    REAL(status_page, gain),
    REAL(status_page, beta),
    WHOLE(status_page, budget_bytes_per_s),
    WHOLE(status_page, sent_bytes),
    WHOLE(status_page, received_bytes),
    REAL(status_page, sent_bytes_per_s),
    REAL(status_page, received_bytes_per_s),
    WHOLE(status_page, log_bytes),
    WHOLE(status_page, rss_bytes),
    REAL(status_page, checkpoint_age_s),
    WHOLE(status_page, neighbours),
    WHOLE(status_page, members_live),
};

static const struct field MEMBER_FIELDS[] = {
    TEXT(status_member, id),
    TEXT(status_member, address),
    TEXT(status_member, state),
    FLAG(status_member, is_self),
    FLAG(status_member, trains),
    WHOLE(status_member, samples),
    REAL(status_member, samples_per_second),
    REAL(status_member, uplink_bytes_per_s),
    REAL(status_member, ingress_bytes_per_s),
    REAL(status_member, age_s),
    REAL(status_member, lag_s),
};

static const struct field LINK_FIELDS[] = {
    TEXT(status_link, id),
    TEXT(status_link, address),
    FLAG(status_link, open),
    FLAG(status_link, dialled),
    FLAG(status_link, listens),
    REAL(status_link, open_s),
    REAL(status_link, rtt_s),
    WHOLE(status_link, queued_bytes),
    REAL(status_link, rate_bytes_per_s),
    FLAG(status_link, is_measured),
    REAL(status_link, rate_age_s),
    REAL(status_link, backlog_s),
    WHOLE(status_link, sent_bytes),
    WHOLE(status_link, received_bytes),
    REAL(status_link, sent_bytes_per_s),
    REAL(status_link, received_bytes_per_s),
};

/* Encoding. */

static json_t *field_json(const struct field *field, const void *record)
{
    const void *at = (const char *)record + field->offset;
    switch (field->kind) {
    case FIELD_TEXT:
        return *(const char *)at ? json_string(at) : json_null();
    case FIELD_FLAG:
        return json_boolean(*(const bool *)at);
    case FIELD_WHOLE:
        return json_integer((json_int_t) * (const uint64_t *)at);
    case FIELD_REAL:
        return json_real(*(const double *)at);
    }
    return NULL;
}

static json_t *encode(const struct field *fields, size_t count, const void *record)
{
    json_t *object = json_object();
    for (size_t i = 0; i < count; i++) {
        json_t *value = field_json(&fields[i], record);
        /* No JSON: not a number, or a text that is no UTF-8 (a swarm may be called anything). */
        (void)json_object_set_new(object, fields[i].key, value ? value : json_null());
    }
    return object;
}

static json_t *encode_list(const struct field *fields, size_t count, const void *records,
                           size_t records_count, size_t record_bytes)
{
    json_t *list = json_array();
    for (size_t i = 0; i < records_count; i++)
        (void)json_array_append_new(
            list, encode(fields, count, (const char *)records + i * record_bytes));
    return list;
}

char *status_page_encode(const struct status_page *page, size_t *count)
{
    json_t *object = encode(PAGE_FIELDS, COUNT(PAGE_FIELDS), page);
    (void)json_object_set_new(object, "members",
                              encode_list(MEMBER_FIELDS, COUNT(MEMBER_FIELDS), page->members,
                                          page->members_count, sizeof *page->members));
    (void)json_object_set_new(object, "links",
                              encode_list(LINK_FIELDS, COUNT(LINK_FIELDS), page->links,
                                          page->links_count, sizeof *page->links));
    char *bytes = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(9));
    json_decref(object);
    CHECK(bytes);
    *count = strlen(bytes);
    return bytes;
}

/* Decoding. */

static void field_set(const struct field *field, void *record, const json_t *value)
{
    void *at = (char *)record + field->offset;
    switch (field->kind) {
    case FIELD_TEXT:
        (void)snprintf(at, field->bytes, "%s",
                       json_is_string(value) ? json_string_value(value) : "");
        return;
    case FIELD_FLAG:
        *(bool *)at = json_is_true(value);
        return;
    case FIELD_WHOLE:
        *(uint64_t *)at = (uint64_t)json_integer_value(value);
        return;
    case FIELD_REAL:
        *(double *)at = json_is_number(value) ? json_number_value(value) : NAN;
        return;
    }
}

static void decode(const struct field *fields, size_t count, void *record, const json_t *object)
{
    for (size_t i = 0; i < count; i++)
        field_set(&fields[i], record, json_object_get(object, fields[i].key));
}

static void *decode_list(const struct field *fields, size_t count, size_t record_bytes,
                         const json_t *list, size_t *records_count)
{
    *records_count = json_array_size(list);
    char *records = calloc(*records_count + 1, record_bytes);
    CHECK(records);
    for (size_t i = 0; i < *records_count; i++)
        decode(fields, count, records + i * record_bytes, json_array_get(list, i));
    return records;
}

enum error status_page_decode(struct status_page *page, const char *bytes, size_t count,
                              struct problem *problem)
{
    json_t *object = json_loadb(bytes, count, 0, NULL);
    if (!json_is_string(json_object_get(object, "stage"))) {
        json_decref(object);
        return problem_set(problem, MALFORMED,
                           "what came is not the status of a node: another program, or a node of "
                           "another version");
    }
    *page = (struct status_page){0};
    decode(PAGE_FIELDS, COUNT(PAGE_FIELDS), page, object);
    page->members = decode_list(MEMBER_FIELDS, COUNT(MEMBER_FIELDS), sizeof *page->members,
                                json_object_get(object, "members"), &page->members_count);
    page->links = decode_list(LINK_FIELDS, COUNT(LINK_FIELDS), sizeof *page->links,
                              json_object_get(object, "links"), &page->links_count);
    json_decref(object);
    return OK;
}

void status_page_free(struct status_page *page)
{
    free(page->members);
    free(page->links);
    page->members = NULL;
    page->links = NULL;
    page->members_count = page->links_count = 0;
}
