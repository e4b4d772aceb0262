#include "daemon/status_watch.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/status_server.h"
#include "node/put_out.h"

/* Rates. */

void status_track_see(struct status_track *track, uint64_t now_ns, uint64_t sent_bytes,
                      uint64_t received_bytes)
{
    CHECK(track->count == 0 || track->past[track->count - 1].at_ns <= now_ns);
    if (track->count == WATCH_SECONDS) {
        memmove(track->past, track->past + 1, (WATCH_SECONDS - 1) * sizeof *track->past);
        track->count--;
    }
    track->past[track->count].at_ns = now_ns;
    track->past[track->count].sent_bytes = sent_bytes;
    track->past[track->count].received_bytes = received_bytes;
    track->count++;
}

void status_track_rates(const struct status_track *track, uint64_t now_ns, uint64_t sent_bytes,
                        uint64_t received_bytes, double *sent_per_s, double *received_per_s)
{
    CHECK(track->count <= WATCH_SECONDS);
    *sent_per_s = *received_per_s = NAN;
    if (track->count == 0 || now_ns <= track->past[0].at_ns)
        return;
    const double seconds = (double)(now_ns - track->past[0].at_ns) * 1e-9;
    *sent_per_s = (double)(sent_bytes - track->past[0].sent_bytes) / seconds;
    *received_per_s = (double)(received_bytes - track->past[0].received_bytes) / seconds;
}

/* The place of a conversation among the tracks, or -1. */
static int place_of(const struct status_watch *watch, uint64_t conn)
{
    for (int i = 0; i < NODE_PEERS_MAX; i++)
        if (watch->tracks[i].conn == conn)
            return i;
    return -1;
}

static void forget_ended(struct status_watch *watch)
{
    for (int i = 0; i < NODE_PEERS_MAX; i++) {
        struct status_track *track = &watch->tracks[i];
        if (!track->seen)
            *track = (struct status_track){0};
        track->seen = false;
    }
}

static void look_at_link(struct status_watch *watch, const struct node_link *link, uint64_t now_ns)
{
    CHECK(link->conn != 0);
    int place = place_of(watch, link->conn);
    if (place < 0)
        place = place_of(watch, 0);
    if (place < 0)
        return; /* ended conversations make room in the next second */
    struct status_track *track = &watch->tracks[place];
    track->conn = link->conn;
    track->seen = true;
    status_track_see(track, now_ns, link->sent_bytes, link->received_bytes);
}

void status_watch_look(struct status_watch *watch, const struct node *node, uint64_t now_ns)
{
    struct node_stats stats;
    struct node_link link;
    node_stats(node, now_ns, &stats);
    status_track_see(&watch->total, now_ns, stats.sent_bytes, stats.received_bytes);
    for (uint32_t i = 0; i < node_links(node); i++) {
        node_link(node, i, &link);
        look_at_link(watch, &link, now_ns);
    }
    forget_ended(watch);
}

/* The page: how each field of the node's own structs is called in JSON, and in which unit. */

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

static const struct field STATS[] = {
    FIELD(node_stats, digest, "digest", FIELD_DIGEST),
    FIELD(node_stats, version, "rumors_known", FIELD_U64),
    FIELD(node_stats, rumors_published, "rumors_published", FIELD_U64),
    FIELD(node_stats, rumors_received, "rumors_received", FIELD_U64),
    FIELD(node_stats, duplicates, "duplicates", FIELD_U64),
    FIELD(node_stats, waiting, "waiting", FIELD_U64),
    FIELD(node_stats, lag_ns, "lag_s", FIELD_SPAN),
    FIELD(node_stats, steps, "steps", FIELD_U64),
    FIELD(node_stats, samples, "samples", FIELD_U64),
    FIELD(node_stats, samples_per_second, "samples_per_second", FIELD_REAL),
    FIELD(node_stats, share, "share", FIELD_REAL),
    FIELD(node_stats, interval_s, "interval_s", FIELD_REAL),
    FIELD(node_stats, gain, "gain", FIELD_REAL),
    FIELD(node_stats, beta, "beta", FIELD_REAL),
    FIELD(node_stats, held, "held", FIELD_REAL),
    FIELD(node_stats, budget, "budget_bytes_per_s", FIELD_REAL),
    FIELD(node_stats, sent_bytes, "sent_bytes", FIELD_U64),
    FIELD(node_stats, received_bytes, "received_bytes", FIELD_U64),
    FIELD(node_stats, log_held_bytes, "log_bytes", FIELD_U64),
    FIELD(node_stats, neighbours, "neighbours", FIELD_U32),
    FIELD(node_stats, members_live, "members_live", FIELD_U32),
};

static const struct field MEMBER[] = {
    FIELD(node_member, id, "id", FIELD_ID),
    FIELD(node_member, address, "address", FIELD_ADDRESS),
    FIELD(node_member, trains, "trains", FIELD_FLAG),
    FIELD(node_member, samples, "samples", FIELD_U64),
    FIELD(node_member, samples_per_second, "samples_per_second", FIELD_RATE),
    FIELD(node_member, uplink, "uplink_bytes_per_s", FIELD_RATE),
    FIELD(node_member, ingress, "ingress_bytes_per_s", FIELD_RATE),
    FIELD(node_member, heard_ns, "age_s", FIELD_AGE),
    FIELD(node_member, met_ns, "known_s", FIELD_AGE),
    FIELD(node_member, lag_ns, "lag_s", FIELD_SPAN),
};

static const struct field CONTRIBUTION[] = {
    FIELD(node_contribution, rumors, "base_rumors", FIELD_U64),
    FIELD(node_contribution, samples, "base_samples", FIELD_U64),
    FIELD(node_contribution, rumor_bytes, "rumor_bytes", FIELD_U64),
    FIELD(node_contribution, share, "base_share", FIELD_REAL),
};

static const struct field STRANGER[] = {
    FIELD(node_stranger, id, "id", FIELD_ID),
    FIELD(node_stranger, incarnation, "incarnation", FIELD_U64),
    FIELD(node_stranger, heard_ns, "age_s", FIELD_AGE),
};

static const struct field LINK[] = {
    FIELD(node_link, id, "id", FIELD_ID),
    FIELD(node_link, address, "address", FIELD_ADDRESS),
    FIELD(node_link, open, "open", FIELD_FLAG),
    FIELD(node_link, dialled, "dialled", FIELD_FLAG),
    FIELD(node_link, listens, "listens", FIELD_FLAG),
    FIELD(node_link, since_ns, "open_s", FIELD_AGE),
    FIELD(node_link, rtt_ns, "rtt_s", FIELD_TRIP),
    FIELD(node_link, queued_bytes, "queued_bytes", FIELD_U64),
    FIELD(node_link, rate, "rate_bytes_per_s", FIELD_REAL),
    FIELD(node_link, is_measured, "is_measured", FIELD_FLAG),
    FIELD(node_link, tried_ns, "rate_age_s", FIELD_AGE),
    FIELD(node_link, backlog_ns, "backlog_s", FIELD_SPAN),
    FIELD(node_link, sent_bytes, "sent_bytes", FIELD_U64),
    FIELD(node_link, received_bytes, "received_bytes", FIELD_U64),
};

/* What is known of a link only while it is open. */
static const char *const OF_OPEN_LINKS[] = {"open_s", "rate_bytes_per_s", "rate_age_s",
                                            "backlog_s"};

static json_t *id_json(const uint8_t id[static ID_BYTES])
{
    static const uint8_t nobody[ID_BYTES];
    char text[2 * ID_BYTES + 1];
    if (memcmp(id, nobody, ID_BYTES) == 0)
        return NULL;
    for (int i = 0; i < ID_BYTES; i++)
        (void)snprintf(text + 2 * i, 3, "%02x", id[i]);
    return json_string(text);
}

static json_t *address_json(const struct address *address)
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

static double seconds_since(uint64_t now_ns, uint64_t at_ns)
{
    return now_ns > at_ns ? (double)(now_ns - at_ns) * 1e-9 : 0;
}

/* NULL: not known. A number that is not finite becomes NULL, too. */
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
        return id_json(at);
    case FIELD_ADDRESS:
        return address_json(at);
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
        return json_real(seconds_since(now_ns, *whole));
    }
    check_failed(__FILE__, __LINE__, "every kind has its JSON");
}

static void put(json_t *object, const char *key, json_t *value)
{
    CHECK(json_object_set_new(object, key, value ? value : json_null()) == 0);
}

static void put_fields(json_t *object, const struct field *fields, size_t count, const void *record,
                       uint64_t now_ns)
{
    for (size_t i = 0; i < count; i++)
        put(object, fields[i].key, field_json(&fields[i], record, now_ns));
}

static void put_rates(json_t *object, const struct status_track *track, uint64_t now_ns,
                      uint64_t sent_bytes, uint64_t received_bytes)
{
    double sent = NAN, received = NAN;
    if (track)
        status_track_rates(track, now_ns, sent_bytes, received_bytes, &sent, &received);
    put(object, "sent_bytes_per_s", json_real(sent));
    put(object, "received_bytes_per_s", json_real(received));
}

/* By what it is a member, and what it is called there. */
static void put_admission(json_t *object, const struct node *node, const struct member_list *list,
                          const uint8_t id[static ID_BYTES])
{
    static const char *const BY[] = {
        [ADMISSION_KEY] = "key", [ADMISSION_LIST] = "list", [ADMISSION_NONE] = "nobody"};
    const enum admission admission = node_admission(node, id);
    const struct order *order = admission == ADMISSION_ORDER ? node_order_about(node, id) : NULL;
    const char *name = order ? order->reason : list ? member_list_name(list, id) : NULL;
    put(object, "admitted_by",
        order ? json_sprintf("order %u", (unsigned)order->number) : json_string(BY[admission]));
    put(object, "name", name && name[0] ? json_string(name) : NULL);
}

static json_t *members_json(const struct node *node, const struct member_list *names,
                            uint64_t now_ns)
{
    json_t *list = json_array();
    struct node_contribution *contributions = calloc(node_members(node), sizeof *contributions);
    CHECK(contributions);
    node_contributions(node, contributions);
    for (uint32_t i = 0; i < node_members(node); i++) {
        struct node_member member;
        json_t *object = json_object();
        node_member(node, now_ns, i, &member);
        put_fields(object, MEMBER, COUNT(MEMBER), &member, now_ns);
        put_fields(object, CONTRIBUTION, COUNT(CONTRIBUTION), &contributions[i], now_ns);
        put_admission(object, node, names, member.id);
        put(object, "state",
            json_string(member.expelled ? "out"
                        : member.left   ? "left"
                        : member.live   ? "live"
                                        : "dead"));
        put(object, "is_self", json_boolean(i == 0)); /* the first is this node itself */
        CHECK(json_array_append_new(list, object) == 0);
    }
    free(contributions);
    return list;
}

/* Whom others take for members and this node does not. */
static json_t *strangers_json(const struct node *node, uint64_t now_ns)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < node_strangers(node); i++) {
        struct node_stranger stranger;
        json_t *object = json_object();
        node_stranger(node, i, &stranger);
        put_fields(object, STRANGER, COUNT(STRANGER), &stranger, now_ns);
        CHECK(json_array_append_new(list, object) == 0);
    }
    return list;
}

static json_t *links_json(const struct status_watch *watch, const struct node *node,
                          uint64_t now_ns)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < node_links(node); i++) {
        struct node_link link;
        json_t *object = json_object();
        node_link(node, i, &link);
        put_fields(object, LINK, COUNT(LINK), &link, now_ns);
        for (size_t k = 0; !link.open && k < COUNT(OF_OPEN_LINKS); k++)
            put(object, OF_OPEN_LINKS[k], NULL);
        const int place = place_of(watch, link.conn);
        put_rates(object, place < 0 ? NULL : &watch->tracks[place], now_ns, link.sent_bytes,
                  link.received_bytes);
        CHECK(json_array_append_new(list, object) == 0);
    }
    return list;
}

static uint64_t latest_incarnation(const struct node *node, const uint8_t id[static ID_BYTES])
{
    uint64_t latest = 0;
    for (uint32_t i = 0; i < node_origins(node); i++) {
        struct node_origin origin;
        node_origin(node, i, &origin);
        if (memcmp(origin.id, id, ID_BYTES) == 0 && origin.incarnation > latest)
            latest = origin.incarnation;
    }
    return latest;
}

/* What the operator has ordered. */
static json_t *orders_json(const struct node *node)
{
    json_t *list = json_array();
    for (uint32_t number = 1; number <= node_orders_count(node); number++) {
        const struct order *order = node_order(node, number);
        json_t *object = json_object();
        put(object, "number", json_integer((json_int_t)order->number));
        put(object, "id", id_json(order->subject));
        put(object, order->admits ? "name" : "reason", json_string(order->reason));
        put(object, "admits", json_boolean(order->admits));
        put(object, "latest_incarnation",
            json_integer((json_int_t)latest_incarnation(node, order->subject)));
        put(object, "issued_ms", json_integer((json_int_t)order->issued_ms));
        CHECK(json_array_append_new(list, object) == 0);
    }
    return list;
}

/* Whose rumors there are. reach: the log has those from that
 * number on. */
static json_t *origins_json(const struct node *node)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < node_origins(node); i++) {
        struct node_origin origin;
        node_origin(node, i, &origin);
        if (origin.next == 0)
            continue;
        json_t *object = json_object();
        put(object, "id", id_json(origin.id));
        put(object, "incarnation", json_integer((json_int_t)origin.incarnation));
        put(object, "rumors", json_integer(origin.next));
        put(object, "reach", json_integer(node_reach(node, i)));
        CHECK(json_array_append_new(list, object) == 0);
    }
    return list;
}

/* All that hearsay expel needs. NULL: nobody can put members out. */
static json_t *operator_json(const struct node *node, const struct node_options *options)
{
    char context[2 * CONTEXT_BYTES + 1];
    if (!options->has_operator)
        return NULL;
    json_t *object = json_object();
    for (size_t i = 0; i < CONTEXT_BYTES; i++)
        (void)snprintf(context + 2 * i, 3, "%02x", node_context(node)[i]);
    put(object, "id", id_json(options->operator_id));
    put(object, "context", json_string(context));
    put(object, "orders", orders_json(node));
    put(object, "origins", origins_json(node));
    return object;
}

/* Resident now, as the system counts. */
static uint64_t rss_bytes(void)
{
    unsigned long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (!file)
        return 0;
    if (fscanf(file, "%*u %llu", &pages) != 1)
        pages = 0;
    (void)fclose(file);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void put_facts(json_t *page, const struct status_facts *facts, uint64_t now_ns)
{
    const struct node_options *options = facts->options;
    struct address listen = facts->listen;
    listen.port = options->listen_port;
    put(page, "program", json_string(HEARSAY_VERSION));
    put(page, "id", id_json(options->identity->id));
    put(page, "swarm", json_string(options->swarm_id)); /* NULL when it is not UTF-8 */
    put(page, "address", address_json(&listen));
    put(page, "incarnation", json_integer((json_int_t)options->incarnation));
    put(page, "uptime_s", json_real(seconds_since(now_ns, facts->start_ns)));
    put(page, "trains", json_boolean(options->trains));
    put(page, "parameters", json_integer((json_int_t)options->parameters));
    put(page, "checkpoint_age_s", json_real(facts->checkpoint_age_s));
    put(page, "rss_bytes", json_integer((json_int_t)rss_bytes()));
}

/* How it is: the phase, whether it is well, and whether it is alone. */
static void put_health(json_t *page, const struct node *node, const struct reach *reach,
                       uint64_t now_ns)
{
    static const char *const PHASES[] = {
        [NODE_JOINING] = "joining",
        [NODE_CATCHING_UP] = "catching up",
        [NODE_RUNNING] = "running",
        [NODE_LEAVING] = "leaving",
    };
    const enum node_phase phase = node_phase(node);
    const bool is_alone = phase == NODE_RUNNING && reach_is_alone(reach, now_ns);
    CHECK((size_t)phase < COUNT(PHASES));
    put(page, "stage", json_string(PHASES[phase]));
    put(page, "healthy",
        json_boolean((phase == NODE_RUNNING || phase == NODE_LEAVING) && !is_alone));
    put(page, "peers_configured", json_integer(reach->peers));
    put(page, "alone_s", is_alone ? json_real(reach_alone_s(reach, now_ns)) : NULL);
    put(page, "alone_reason", is_alone ? json_string(reach->why) : NULL);
}

char *status_watch_page(const struct status_watch *watch, const struct node *node,
                        const struct status_facts *facts, uint64_t now_ns, size_t *count)
{
    struct node_stats stats;
    json_t *page = json_object();
    node_stats(node, now_ns, &stats);
    put_health(page, node, facts->reach, now_ns);
    put_facts(page, facts, now_ns);
    put_fields(page, STATS, COUNT(STATS), &stats, now_ns);
    put_rates(page, &watch->total, now_ns, stats.sent_bytes, stats.received_bytes);
    put(page, "loss", stats.steps ? json_real(facts->loss) : NULL);
    put(page, "operator", operator_json(node, facts->options));
    put(page, "members", members_json(node, facts->list, now_ns));
    put(page, "strangers", strangers_json(node, now_ns));
    put(page, "links", links_json(watch, node, now_ns));
    char *bytes = json_dumps(page, STATUS_JSON);
    json_decref(page);
    CHECK(bytes);
    *count = strlen(bytes);
    return bytes;
}
