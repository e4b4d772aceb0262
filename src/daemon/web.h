/* A node's web page and metrics: its HTTP server, and the history for clients.
 *
 *   host ─ second by second ─► trail, happened ─┐
 *   page of status ───────────────────────────────┴─► snapshot, metrics ─► web_server
 *
 * Pages are made only on request. Held by tests/process/test_metrics.sh and
 * tests/process/test_web_page.py.
 */
#ifndef HEARSAY_DAEMON_WEB_H
#define HEARSAY_DAEMON_WEB_H

#include <jansson.h>

#include "config/config.h"
#include "node/notes.h"
#include "web/node_snapshot.h"
#include "web/trail.h"
#include "web/web_server.h"

struct web {
    struct web_server *server; /* the server; NULL = node.http is none */
    struct trail trail;
    struct happened happened;
    bool is_due;                 /* the server has unfinished work */
    uint32_t told;               /* number of items of happened that clients have received */
    json_t *(*page)(void *host); /* returns the present status page */
    void *host;                  /* argument of page */
    uint64_t start_ns;           /* start of the process */
};

/* Opens the server if configured. web is zeroed except page, host and start_ns. */
enum error web_open(struct web *web, const struct config_node *config,
                    struct problem *problem) MUST_USE;
void web_close(struct web *web);

/* Adds a note for people to the list of events. */
void web_on_note(struct web *web, const struct note *note);
/* Adds the values of the last second; called once a second. */
void web_on_second(struct web *web, const double second[static TRAIL_VALUES]);
/* Handles that the server's file is ready, or that work was left; sets is_due. */
void web_on_ready(struct web *web);

#endif
