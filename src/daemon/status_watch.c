#include "daemon/status_watch.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Rates. */

void status_track_see(struct status_track *track, uint64_t now_ns, uint64_t sent_bytes,
                      uint64_t received_bytes)
{
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
    int place = place_of(watch, link->conn);
    if (place < 0)
        place = place_of(watch, 0);
    if (place < 0)
        return; /* those that ended have not made room yet: next second */
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

/* The page. */

static double seconds_since(uint64_t now_ns, uint64_t at_ns)
{
    return now_ns > at_ns ? (double)(now_ns - at_ns) * 1e-9 : 0;
}

static void id_text(char out[static STATUS_ID_BYTES], const uint8_t id[static ID_BYTES])
{
    for (int i = 0; i < ID_BYTES; i++)
        (void)snprintf(out + 2 * i, 3, "%02x", id[i]);
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

static void fill_member(struct status_member *out, const struct node *node, uint64_t now_ns,
                        uint32_t i)
{
    struct node_member member;
    node_member(node, now_ns, i, &member);
    *out = (struct status_member){
        .is_self = i == 0,
        .trains = member.trains,
        .samples = member.samples,
        .samples_per_second = member.samples_per_second > 0 ? member.samples_per_second : NAN,
        .age_s = seconds_since(now_ns, member.heard_ns),
        .uplink_bytes_per_s = member.uplink > 0 ? member.uplink : NAN,
        .ingress_bytes_per_s = member.ingress > 0 ? member.ingress : NAN,
        .lag_s = (double)member.lag_ns * 1e-9,
    };
    id_text(out->id, member.id);
    if (member.address.port)
        (void)address_text(&member.address, out->address);
    (void)snprintf(out->state, sizeof out->state, "%s",
                   member.left   ? "left"
                   : member.live ? "live"
                                 : "dead");
}

static bool is_known(const uint8_t id[static ID_BYTES])
{
    static const uint8_t nobody[ID_BYTES];
    return memcmp(id, nobody, ID_BYTES) != 0;
}

static void fill_link(struct status_link *out, const struct status_watch *watch,
                      const struct node *node, uint64_t now_ns, uint32_t i)
{
    static const struct status_track unseen;
    struct node_link link;
    node_link(node, i, &link);
    *out = (struct status_link){
        .open = link.open,
        .dialled = link.dialled,
        .listens = link.listens,
        .open_s = link.open ? seconds_since(now_ns, link.since_ns) : NAN,
        .rtt_s = link.rtt_ns ? (double)link.rtt_ns * 1e-9 : NAN,
        .queued_bytes = link.queued_bytes,
        .rate_bytes_per_s = link.open ? link.rate : NAN,
        .is_measured = link.is_measured,
        .rate_age_s = link.open ? seconds_since(now_ns, link.tried_ns) : NAN,
        .backlog_s = link.open ? (double)link.backlog_ns * 1e-9 : NAN,
        .sent_bytes = link.sent_bytes,
        .received_bytes = link.received_bytes,
    };
    if (is_known(link.id))
        id_text(out->id, link.id);
    (void)address_text(&link.address, out->address);
    const int place = place_of(watch, link.conn);
    status_track_rates(place < 0 ? &unseen : &watch->tracks[place], now_ns, link.sent_bytes,
                       link.received_bytes, &out->sent_bytes_per_s, &out->received_bytes_per_s);
}

static void fill_stats(struct status_page *page, const struct node_stats *stats)
{
    page->rumors_known = stats->version;
    page->rumors_published = stats->rumors_published;
    page->rumors_received = stats->rumors_received;
    page->duplicates = stats->duplicates;
    page->waiting = stats->waiting;
    page->lag_s = (double)stats->lag_ns * 1e-9;
    page->steps = stats->steps;
    page->samples = stats->samples;
    page->samples_per_second = stats->samples_per_second;
    page->share = stats->share;
    page->interval_s = stats->interval_s;
    page->gain = stats->gain;
    page->beta = stats->beta;
    page->budget_bytes_per_s = (uint64_t)stats->budget;
    page->sent_bytes = stats->sent_bytes;
    page->received_bytes = stats->received_bytes;
    page->log_bytes = stats->log_held_bytes;
    page->neighbours = stats->neighbours;
    page->members_live = stats->members_live;
    (void)snprintf(page->digest, sizeof page->digest, "%016" PRIx64, stats->digest);
}

static void fill_facts(struct status_page *page, const struct status_facts *facts, uint64_t now_ns)
{
    const struct node_options *options = facts->options;
    struct address listen = facts->listen;
    (void)snprintf(page->program, sizeof page->program, "%s", HEARSAY_VERSION);
    (void)snprintf(page->swarm, sizeof page->swarm, "%s", options->swarm_id);
    id_text(page->id, options->identity->id);
    listen.port = options->listen_port;
    if (listen.port)
        (void)address_text(&listen, page->address);
    page->incarnation = options->incarnation;
    page->uptime_s = seconds_since(now_ns, facts->start_ns);
    page->trains = options->trains;
    page->parameters = options->parameters;
    page->loss = page->steps ? facts->loss : NAN;
    page->checkpoint_age_s = facts->checkpoint_age_s;
    page->rss_bytes = rss_bytes();
}

char *status_watch_page(const struct status_watch *watch, const struct node *node,
                        const struct status_facts *facts, uint64_t now_ns, size_t *count)
{
    static const char *const STAGES_TEXT[] = {
        [NODE_JOINING] = "joining",
        [NODE_CATCHING_UP] = "catching up",
        [NODE_RUNNING] = "running",
        [NODE_LEAVING] = "leaving",
    };
    struct status_page page = {.members_count = node_members(node),
                               .links_count = node_links(node)};
    struct node_stats stats;
    const enum node_phase phase = node_phase(node);
    node_stats(node, now_ns, &stats);
    fill_stats(&page, &stats);
    fill_facts(&page, facts, now_ns);
    status_track_rates(&watch->total, now_ns, stats.sent_bytes, stats.received_bytes,
                       &page.sent_bytes_per_s, &page.received_bytes_per_s);
    (void)snprintf(page.stage, sizeof page.stage, "%s", STAGES_TEXT[phase]);
    page.healthy = phase == NODE_RUNNING || phase == NODE_LEAVING;
    page.members = calloc(page.members_count + 1, sizeof *page.members);
    page.links = calloc(page.links_count + 1, sizeof *page.links);
    CHECK(page.members && page.links);
    for (uint32_t i = 0; i < page.members_count; i++)
        fill_member(&page.members[i], node, now_ns, i);
    for (uint32_t i = 0; i < page.links_count; i++)
        fill_link(&page.links[i], watch, node, now_ns, i);
    char *bytes = status_page_encode(&page, count);
    status_page_free(&page);
    return bytes;
}
