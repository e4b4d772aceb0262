#include "daemon/status_watch.h"

#include <jansson.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "daemon/json_fields.h"
#include "daemon/status_server.h"
#include "node/expulsion_api.h"
#include "node/labels_api.h"
#include "node/quarantine_api.h"
#include "node/swarm_keys.h"

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

/* Returns -1 if the connection has no track. */
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
        return; /* all tracks are in use; closed connections keep theirs for up to a second */
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

static const struct field STATS[] = {
    FIELD(node_stats, digest, "digest", FIELD_DIGEST),
    FIELD(node_stats, version, "rumors_known", FIELD_U64),
    FIELD(node_stats, rumors_published, "rumors_published", FIELD_U64),
    FIELD(node_stats, rumors_received, "rumors_received", FIELD_U64),
    FIELD(node_stats, duplicates, "duplicates", FIELD_U64),
    FIELD(node_stats, waiting, "waiting", FIELD_U64),
    FIELD(node_stats, lag_ns, "lag_s", FIELD_SPAN),
    FIELD(node_stats, trains, "trains", FIELD_FLAG),
    FIELD(node_stats, steps, "steps", FIELD_U64),
    FIELD(node_stats, samples, "samples", FIELD_U64),
    FIELD(node_stats, samples_per_second, "samples_per_second", FIELD_REAL),
    FIELD(node_stats, share, "share", FIELD_REAL),
    FIELD(node_stats, interval_s, "interval_s", FIELD_REAL),
    FIELD(node_stats, gain, "gain", FIELD_REAL),
    FIELD(node_stats, beta, "beta", FIELD_REAL),
    FIELD(node_stats, withheld, "withheld", FIELD_REAL),
    FIELD(node_stats, budget, "budget_bytes_per_s", FIELD_REAL),
    FIELD(node_stats, sent_bytes, "sent_bytes", FIELD_U64),
    FIELD(node_stats, received_bytes, "received_bytes", FIELD_U64),
    FIELD(node_stats, log_held_bytes, "log_bytes", FIELD_U64),
    FIELD(node_stats, rumor_bytes_published, "rumor_bytes_published", FIELD_U64),
    FIELD(node_stats, rumor_bytes_received, "rumor_bytes_received", FIELD_U64),
    FIELD(node_stats, blocks, "blocks", FIELD_U32),
    FIELD(node_stats, blocks_held, "blocks_held", FIELD_U32),
    FIELD(node_stats, neighbours, "neighbours", FIELD_U32),
    FIELD(node_stats, members_live, "members_live", FIELD_U32),
};

static const struct field MEMBER[] = {
    FIELD(node_member, id, "id", FIELD_ID),
    FIELD(node_member, address, "address", FIELD_ADDRESS),
    FIELD(node_member, trains, "trains", FIELD_FLAG),
    FIELD(node_member, is_lost, "is_lost", FIELD_FLAG),
    FIELD(node_member, samples, "samples", FIELD_U64),
    FIELD(node_member, digest, "base_digest", FIELD_DIGEST),
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

static const struct field PROOF_AGAINST[] = {
    FIELD(node_proof, id, "id", FIELD_ID),
    FIELD(node_proof, incarnation, "incarnation", FIELD_U64),
    FIELD(node_proof, keep, "keep", FIELD_U32),
    FIELD(node_proof, is_suspended, "is_suspended", FIELD_FLAG),
    FIELD(node_proof, is_voted, "is_voted", FIELD_FLAG),
};

static const struct field HARM[] = {
    FIELD(node_finding, id, "id", FIELD_ID),
    FIELD(node_finding, incarnation, "incarnation", FIELD_U64),
    FIELD(node_finding, harms, "harms", FIELD_FLAG),
    FIELD(node_finding, is_held, "suspended", FIELD_FLAG),
    FIELD(node_finding, agreement, "agreement", FIELD_REAL),
    FIELD(node_finding, typical, "typical_agreement", FIELD_REAL),
    FIELD(node_finding, length, "length", FIELD_REAL),
    FIELD(node_finding, votes, "votes", FIELD_U32),
    FIELD(node_finding, needed, "votes_needed", FIELD_U32),
};

static const struct field LINK[] = {
    FIELD(node_link, id, "id", FIELD_ID),
    FIELD(node_link, address, "address", FIELD_ADDRESS),
    FIELD(node_link, open, "open", FIELD_FLAG),
    FIELD(node_link, dialled, "dialled", FIELD_FLAG),
    FIELD(node_link, listens, "listens", FIELD_FLAG),
    FIELD(node_link, since_ns, "open_s", FIELD_AGE),
    FIELD(node_link, protocol, "protocol", FIELD_U32),
    FIELD(node_link, rtt_ns, "rtt_s", FIELD_TRIP),
    FIELD(node_link, queued_bytes, "queued_bytes", FIELD_U64),
    FIELD(node_link, rate, "rate_bytes_per_s", FIELD_REAL),
    FIELD(node_link, is_measured, "is_measured", FIELD_FLAG),
    FIELD(node_link, tried_ns, "rate_age_s", FIELD_AGE),
    FIELD(node_link, backlog_ns, "backlog_s", FIELD_SPAN),
    FIELD(node_link, sent_bytes, "sent_bytes", FIELD_U64),
    FIELD(node_link, received_bytes, "received_bytes", FIELD_U64),
};

/* Fields that are null unless the link is open. */
static const char *const OF_OPEN_LINKS[] = {"open_s", "rate_bytes_per_s", "rate_age_s",
                                            "backlog_s"};

static void put_rates(json_t *object, const struct status_track *track, uint64_t now_ns,
                      uint64_t sent_bytes, uint64_t received_bytes)
{
    double sent = NAN, received = NAN;
    if (track)
        status_track_rates(track, now_ns, sent_bytes, received_bytes, &sent, &received);
    json_put(object, "sent_bytes_per_s", json_real(sent));
    json_put(object, "received_bytes_per_s", json_real(received));
}

/* The name comes from the operator's order or the member list. */
static void put_admission(json_t *object, const struct node *node, const struct member_list *list,
                          const uint8_t id[static ID_BYTES])
{
    static const char *const BY[] = {
        [ADMISSION_KEY] = "key", [ADMISSION_LIST] = "list", [ADMISSION_NONE] = "nobody"};
    const enum admission admission = node_admission(node, id);
    const struct order *order = admission == ADMISSION_ORDER ? node_order_about(node, id) : NULL;
    const char *name = order ? order->reason : list ? member_list_name(list, id) : NULL;
    json_put(object, "admitted_by",
             order ? json_sprintf("order %u", (unsigned)order->number)
                   : json_string(BY[admission]));
    json_put(object, "name", name && name[0] ? json_string(name) : NULL);
}

static json_t *members_json(const struct node *node, const struct member_list *names,
                            uint64_t now_ns)
{
    json_t *list = json_array();
    struct node_contribution *contributions = memory_new(node_members(node), sizeof *contributions);
    node_contributions(node, contributions);
    for (uint32_t i = 0; i < node_members(node); i++) {
        struct node_member member;
        json_t *object = json_object();
        node_member(node, now_ns, i, &member);
        json_put_fields(object, MEMBER, COUNT(MEMBER), &member, now_ns);
        json_put_fields(object, CONTRIBUTION, COUNT(CONTRIBUTION), &contributions[i], now_ns);
        put_admission(object, node, names, member.id);
        json_put(object, "state",
                 json_string(member.expelled ? "out"
                             : member.left   ? "left"
                             : member.live   ? "live"
                                             : "dead"));
        /* The first member is this node itself. */
        json_put(object, "is_self", json_boolean(i == 0));
        json_add(list, object);
    }
    free(contributions);
    return list;
}

/* Nodes that other members admit and this node does not. */
static json_t *strangers_json(const struct node *node, uint64_t now_ns)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < node_strangers(node); i++) {
        struct node_stranger stranger;
        json_t *object = json_object();
        node_stranger(node, i, &stranger);
        json_put_fields(object, STRANGER, COUNT(STRANGER), &stranger, now_ns);
        json_add(list, object);
    }
    return list;
}

/* Members that this node finds harmful, that have votes against them, or whose rumors are
 * withheld. */
static json_t *harms_json(const struct node *node, uint64_t now_ns)
{
    json_t *list = json_array();
    struct node_finding harm;
    for (uint32_t i = 0; node_finding(node, i, &harm); i++) {
        json_t *object = json_object();
        json_put_fields(object, HARM, COUNT(HARM), &harm, now_ns);
        json_add(list, object);
    }
    return list;
}

/* Members that were expelled by a proof or by votes. */
static json_t *proofs_json(const struct node *node, uint64_t now_ns)
{
    json_t *list = json_array();
    struct node_proof proof;
    for (uint32_t i = 0; node_proof(node, i, &proof); i++) {
        json_t *object = json_object();
        json_put_fields(object, PROOF_AGAINST, COUNT(PROOF_AGAINST), &proof, now_ns);
        json_add(list, object);
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
        json_put_fields(object, LINK, COUNT(LINK), &link, now_ns);
        for (size_t k = 0; !link.open && k < COUNT(OF_OPEN_LINKS); k++)
            json_put(object, OF_OPEN_LINKS[k], NULL);
        const int place = place_of(watch, link.conn);
        put_rates(object, place < 0 ? NULL : &watch->tracks[place], now_ns, link.sent_bytes,
                  link.received_bytes);
        json_add(list, object);
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

static json_t *orders_json(const struct node *node)
{
    json_t *list = json_array();
    for (uint32_t number = 1; number <= node_orders_count(node); number++) {
        const struct order *order = node_order(node, number);
        json_t *object = json_object();
        json_put(object, "number", json_integer((json_int_t)order->number));
        json_put(object, "id", order->kind == ORDER_REKEY ? NULL : json_of_id(order->subject));
        json_put(object, order->kind == ORDER_ADMIT ? "name" : "reason",
                 json_string(order->reason));
        json_put(object, "admits", json_boolean(order->kind == ORDER_ADMIT));
        json_put(object, "latest_incarnation",
                 json_integer((json_int_t)latest_incarnation(node, order->subject)));
        json_put(object, "rekeys", json_boolean(order->kind == ORDER_REKEY));
        json_put(object, "issued_ms", json_integer((json_int_t)order->issued_ms));
        json_add(list, object);
    }
    return list;
}

/* Returns pairs of rumor number and age in seconds, for some rumors of origin i. */
static json_t *arrivals_json(const struct node *node, uint64_t now_ns, uint32_t i)
{
    struct node_arrival arrivals[NODE_ARRIVALS];
    const uint32_t count = node_arrivals(node, now_ns, i, arrivals);
    json_t *list = json_array();
    for (uint32_t k = 0; k < count; k++) {
        json_t *pair = json_array();
        json_add(pair, json_integer(arrivals[k].seq));
        json_add(pair, json_real(json_seconds_since(now_ns, arrivals[k].came_ns)));
        json_add(list, pair);
    }
    return list;
}

/* log_first: number of the oldest rumor of the origin that the log still has, with all later
 * ones. */
static json_t *origins_json(const struct node *node, uint64_t now_ns)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < node_origins(node); i++) {
        struct node_origin origin;
        node_origin(node, i, &origin);
        if (origin.next == 0)
            continue;
        json_t *object = json_object();
        json_put(object, "id", json_of_id(origin.id));
        json_put(object, "incarnation", json_integer((json_int_t)origin.incarnation));
        json_put(object, "rumors", json_integer(origin.next));
        json_put(object, "log_first", json_integer(node_reach(node, i)));
        json_put(object, "arrivals", arrivals_json(node, now_ns, i));
        json_add(list, object);
    }
    return list;
}

/* Describes the swarm key in use, but never contains the key. */
static json_t *swarm_key_json(const struct node *node)
{
    struct node_swarm_key key;
    json_t *object = json_object();
    node_swarm_key(node, &key);
    json_put(object, "hash", json_of_id(key.hash));
    json_put(object, "order", json_integer(key.order));
    json_put(object, "missing", json_integer(key.missing));
    json_put(object, "older", json_integer(key.older));
    json_put(object, "until_ms", json_integer((json_int_t)key.until_ms));
    return object;
}

/* For the operator's commands; NULL if the swarm has no operator. */
static json_t *operator_json(const struct node *node, const struct node_options *options,
                             uint64_t now_ns)
{
    char context[2 * CONTEXT_BYTES + 1];
    if (!options->has_operator)
        return NULL;
    json_t *object = json_object();
    for (size_t i = 0; i < CONTEXT_BYTES; i++)
        (void)snprintf(context + 2 * i, 3, "%02x", node_context(node)[i]);
    json_put(object, "id", json_of_id(options->operator_id));
    json_put(object, "context", json_string(context));
    json_put(object, "orders", orders_json(node));
    json_put(object, "origins", origins_json(node, now_ns));
    json_put(object, "log_horizon_s",
             json_real(json_seconds_since(now_ns, node_log_horizon_ns(node))));
    json_put(object, "swarm_key", swarm_key_json(node));
    return object;
}

/* Returns the resident memory of the process in bytes; 0 = unknown. */
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
    json_put(page, "program", json_string(HEARSAY_VERSION));
    json_put(page, "id", json_of_id(options->identity->id));
    json_put(page, "swarm", json_string(options->swarm_id)); /* null if the name is not UTF-8 */
    json_put(page, "address", json_of_address(&listen));
    json_put(page, "incarnation", json_integer((json_int_t)options->incarnation));
    json_put(page, "uptime_s", json_real(json_seconds_since(now_ns, facts->start_ns)));
    json_put(page, "parameters", json_integer((json_int_t)options->parameters));
    json_put(page, "checkpoint_age_s", json_real(facts->checkpoint_age_s));
    json_put(page, "rss_bytes", json_integer((json_int_t)rss_bytes()));
    json_put(page, "state_free_bytes", json_integer((json_int_t)facts->free_bytes));
    json_put(page, "diverged", json_integer(facts->diverged));
    json_put(page, "saturated", json_integer((json_int_t)facts->saturation->entries));
    json_put(page, "saturated_tensor",
             facts->saturation->tensor[0] ? json_string(facts->saturation->tensor) : json_null());
}

static void put_health(json_t *page, const struct node *node, const struct reach *reach,
                       uint64_t now_ns)
{
    static const char *const PHASES[] = {
        [NODE_JOINING] = "joining",     [NODE_CATCHING_UP] = "catching up",
        [NODE_EXPELLED] = "expelled",   [NODE_RUNNING] = "running",
        [NODE_FINISHING] = "finishing", [NODE_FINISHED] = "finished",
        [NODE_LEAVING] = "leaving",
    };
    const enum node_phase phase = node_phase(node);
    const bool is_alone = phase == NODE_RUNNING && reach_is_alone(reach, now_ns);
    CHECK((size_t)phase < COUNT(PHASES));
    json_put(page, "stage", json_string(PHASES[phase]));
    json_put(page, "healthy", json_boolean(phase >= NODE_RUNNING && !is_alone));
    json_put(page, "peers_configured", json_integer(reach->peers));
    json_put(page, "alone_s", is_alone ? json_real(reach_alone_s(reach, now_ns)) : NULL);
    json_put(page, "alone_reason", is_alone ? json_string(reach->why) : NULL);
}

/* Replaces the guard's alarm if this node's labels contradict the shared model. */
static void put_labels(json_t *training, const struct node *node)
{
    char alarm[NODE_LABELS_TEXT + 64];
    const char *text = node_labels_text(node);
    if (!text)
        return;
    (void)snprintf(alarm, sizeof alarm, "the labels of this node contradict the shared model (%s)",
                   text);
    json_put(training, "state", json_string("labels"));
    json_put(training, "is_well", json_false());
    json_put(training, "alarm", json_string(alarm));
}

json_t *status_watch_page(const struct status_watch *watch, const struct node *node,
                          const struct status_facts *facts, uint64_t now_ns)
{
    struct node_stats stats;
    json_t *page = json_object();
    node_stats(node, now_ns, &stats);
    put_health(page, node, facts->reach, now_ns);
    put_facts(page, facts, now_ns);
    json_put_fields(page, STATS, COUNT(STATS), &stats, now_ns);
    put_rates(page, &watch->total, now_ns, stats.sent_bytes, stats.received_bytes);
    json_put(page, "swarm_samples", json_integer((json_int_t)node_swarm_samples(node)));
    training_watch_put(facts->training, page, now_ns);
    put_labels(json_object_get(page, "training"), node);
    json_put(page, "operator", operator_json(node, facts->options, now_ns));
    json_put(page, "proofs", proofs_json(node, now_ns));
    json_put(page, "harms", harms_json(node, now_ns));
    json_put(page, "members", members_json(node, facts->list, now_ns));
    json_put(page, "strangers", strangers_json(node, now_ns));
    json_put(page, "links", links_json(watch, node, now_ns));
    return page;
}
