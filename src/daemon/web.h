/* Serves a node's web page and metrics: owns the HTTP server and the history that the page shows.
 *
 *   host ─ second by second ─► trail, happened ─┐
 *   page of status ───────────────────────────────┴─► snapshot, metrics ─► web_server
 *
 * Texts are made only when a client requests them. Tests: tests/process/test_metrics.sh and
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
    struct web_server *server; /* the HTTP server; NULL = node.http is none */
    struct trail trail;
    struct happened happened;
    bool is_due;                 /* web_on_ready must be called again soon */
    uint32_t told;               /* number of events that clients of /events have received */
    json_t *(*page)(void *host); /* returns the present status page; the caller releases it */
    void *host;                  /* argument of page */
    uint64_t start_ns;           /* time at which the process started */
};

/* Opens the server if the configuration wants one. Before, the caller zeroes *web, then sets page,
 * host and start_ns. */
enum error web_open(struct web *web, const struct config_node *config,
                    struct problem *problem) MUST_USE;
void web_close(struct web *web);

/* Adds a note of level info or higher to the events that the page shows. */
void web_on_note(struct web *web, const struct note *note);
/* Adds a row with the measurements of the last second; called once a second. */
void web_on_second(struct web *web, const double second[static TRAIL_VALUES]);
/* Does the server's work. Call it when the server's file is readable, or when is_due is set;
 * updates is_due. */
void web_on_ready(struct web *web);

#endif
