/* What a running node tells about itself when somebody on its machine asks.
 *
 *   daemon ── status_watch ──► page ── encode ──► JSON ~ status.sock ~ JSON ── decode ──► page
 *                                                                        text (status, top) ◄┘
 *
 * One table (status_page.c) says how each field is called in JSON; both directions follow from it.
 * What is not known is null there, and not a number (or "") here.
 * Held by tests/unit/commands/test_status_page.c: what is encoded is decoded, equal.
 */
#ifndef HEARSAY_COMMANDS_STATUS_STATUS_PAGE_H
#define HEARSAY_COMMANDS_STATUS_STATUS_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "socket/address.h"
#include "crypto/identity.h"
#include "base/error.h"

#define STATUS_ID_BYTES   (2 * ID_BYTES + 1)
#define STATUS_WORD_BYTES 16
#define STATUS_NAME_BYTES 64

struct status_member {
    char id[STATUS_ID_BYTES];
    char address[ADDRESS_TEXT_BYTES]; /* "": it only dials */
    char state[STATUS_WORD_BYTES];    /* live, dead, left */
    bool is_self;
    bool trains;
    uint64_t samples;
    double samples_per_second;
    double uplink_bytes_per_s, ingress_bytes_per_s; /* what its links carry, at least */
    double age_s;                                   /* since its last record or rumor */
    double lag_s;
};

struct status_link {
    char id[STATUS_ID_BYTES]; /* "": not known yet */
    char address[ADDRESS_TEXT_BYTES];
    bool open;    /* a neighbour; false: on the way to it, or ending */
    bool dialled; /* we called */
    bool listens; /* false: it only dials, as far as we know */
    double open_s;
    double rtt_s;
    uint64_t queued_bytes;
    double rate_bytes_per_s; /* that it carries, and ... */
    bool is_measured;        /* ... no more than that; else at least that */
    double rate_age_s;       /* since this was last made use of, and so seen to be true */
    double backlog_s;        /* what is sent waits so long on the way */
    uint64_t sent_bytes, received_bytes;
    double sent_bytes_per_s, received_bytes_per_s; /* over the last seconds */
};

struct status_page {
    char program[STATUS_WORD_BYTES]; /* version of hearsay */
    char id[STATUS_ID_BYTES];
    char swarm[STATUS_NAME_BYTES];
    char address[ADDRESS_TEXT_BYTES]; /* where it listens; "": it only dials */
    uint64_t incarnation;
    double uptime_s;
    char stage[STATUS_WORD_BYTES]; /* joining, catching up, running, leaving */
    bool healthy;                  /* it has joined: it trains, or passes on */
    bool trains;

    uint64_t parameters;
    char digest[STATUS_WORD_BYTES + 1];
    uint64_t rumors_known, rumors_published, rumors_received, duplicates, waiting;
    double lag_s;
    uint64_t steps, samples;
    double samples_per_second, loss, share;
    double interval_s, gain, beta; /* how often and how boldly it tells (boldness.h) */
    uint64_t budget_bytes_per_s;
    uint64_t sent_bytes, received_bytes;
    double sent_bytes_per_s, received_bytes_per_s; /* over the last seconds */
    uint64_t log_bytes, rss_bytes;
    double checkpoint_age_s;

    uint64_t neighbours, members_live;
    struct status_member *members; /* [members_count] */
    size_t members_count;
    struct status_link *links; /* [links_count] */
    size_t links_count;
};

/* One JSON object, its size in *count; to be freed. */
char *status_page_encode(const struct status_page *page, size_t *count);

/* MALFORMED and a sentence when it is not a page. A field that is missing is taken as not known:
 * the node may be of another version. To be freed with status_page_free. */
enum error status_page_decode(struct status_page *page, const char *bytes, size_t count,
                              struct problem *problem) MUST_USE;

/* The page's lists. */
void status_page_free(struct status_page *page);

#endif
